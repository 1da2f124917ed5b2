/** What a Slack account knows while it lives. How far each chat was read is committed with the messages (SLACK-1). */
import type { AccountPolicy, ChannelHost } from "../../../core/contracts/index.ts";
import { asText } from "../../../core/domain/index.ts";
import type { Clock, Log } from "../../../core/kit/index.ts";
import { type AdapterParts, toPolicy } from "../account.ts";
import { OwnIdentity } from "../own-identity.ts";
import { Positions } from "../positions.ts";
import { SlackApi } from "./api.ts";
import type { SlackAccount } from "./config.ts";
import type { SlackMe } from "./events.ts";

export interface SlackState {
  config: SlackAccount;
  clock: Clock;
  log: Log;
  policy: AccountPolicy;
  api: SlackApi;
  self: OwnIdentity<SlackMe & { name: string; team: string }>;
  /** How far each chat was read; undefined until the first event or the start of listening. */
  positions: Positions | undefined;
}

export function makeState({ config, clock, log }: AdapterParts<SlackAccount>): SlackState {
  const api = new SlackApi(config.apiUrl, config.botToken);
  const self = new OwnIdentity(async (signal) => {
    const said = await api.call("auth.test", {}, signal, true);
    const read = (field: string) => asText(said[field]) ?? "";
    return { user: read("user_id"), bot: read("bot_id"), name: read("user"), team: read("team") };
  });
  return { config, clock, log, policy: toPolicy(config), api, self, positions: undefined };
}

export async function readPositions(state: SlackState, door: ChannelHost): Promise<Positions> {
  const cursor = state.positions ? undefined : await door.cursor();
  state.positions ??= new Positions(cursor);
  return state.positions;
}

/** Opens connections in socket mode; the bot's own token may not. */
export async function askForSocket({ config }: SlackState, appToken: string, signal: AbortSignal): Promise<string> {
  const app = new SlackApi(config.apiUrl, appToken);
  return String((await app.call("apps.connections.open", {}, signal, true)).url);
}
