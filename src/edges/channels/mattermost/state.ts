/** What a Mattermost account knows while it lives. All of it can be asked for again, so nothing here is stored. */
import type { Clock } from "../../../core/kit/index.ts";
import type { AdapterParts } from "../account.ts";
import { OwnIdentity } from "../own-identity.ts";
import { RecentMap } from "../recent.ts";
import { MattermostApi } from "./api.ts";
import type { MattermostAccount } from "./config.ts";

export interface MattermostState {
  account: string;
  config: MattermostAccount;
  clock: Clock;
  api: MattermostApi;
  self: OwnIdentity<{ id: string; name: string }>;
  /** By channel id. */
  kinds: RecentMap<ChatKind>;
  /** By the id of a thread's first post: whether we wrote it. */
  ownRoots: RecentMap<boolean>;
}

type ChatKind = "direct" | "group";

/** More chats and threads than are active at a time; one that was forgotten costs one call. */
const MOST_KNOWN = 2000;

export function makeState({ account, config, clock }: AdapterParts<MattermostAccount>): MattermostState {
  const api = new MattermostApi(config.url, config.token);
  const self = new OwnIdentity((signal) => api.me(signal));
  return { account, config, clock, api, self, kinds: new RecentMap(MOST_KNOWN), ownRoots: new RecentMap(MOST_KNOWN) };
}

export async function readKind(state: MattermostState, channel: string, signal: AbortSignal): Promise<ChatKind> {
  return state.kinds.get(channel) ?? rememberKind(state, channel, await state.api.channelType(channel, signal));
}

/** `type` is Mattermost's letter: "D" is a direct chat, all others have more members or may get them. */
export function rememberKind(state: MattermostState, channel: string, type: string): ChatKind {
  const kind = type === "D" ? "direct" : "group";
  state.kinds.set(channel, kind);
  return kind;
}

/** Whether a thread began with a post of ours: then an answer in it is meant for us. */
export async function isOwnRoot(state: MattermostState, root: string, signal: AbortSignal): Promise<boolean> {
  const me = await state.self.get(signal);
  const isOwn = state.ownRoots.get(root) ?? (await state.api.post(root, signal))?.user === me.id;
  state.ownRoots.set(root, isOwn);
  return isOwn;
}
