/** What a Teams account knows while it lives: above all, at which address each conversation is served. */
import type { ChannelHost } from "../../../core/contracts/index.ts";
import { asText } from "../../../core/domain/index.ts";
import type { AdapterParts } from "../account.ts";
import { RecentMap } from "../recent.ts";
import { TeamsApi } from "./api.ts";
import type { TeamsAccount } from "./config.ts";
import { TeamsTokens } from "./token.ts";

export interface TeamsState {
  account: string;
  config: TeamsAccount;
  api: TeamsApi;
  tokens: TeamsTokens;
  /** By chat. */
  services: RecentMap<string>;
  /** The last one anybody wrote from: mostly a tenant has only one. It is stored, for answers after a restart. */
  lastService: string | undefined;
}

/** More than are talked in at a time; for one that was forgotten, the last address is nearly always right. */
const MOST_CONVERSATIONS = 1000;
const STORED = "service";

export function makeState({ account, config, clock }: AdapterParts<TeamsAccount>): TeamsState {
  return {
    account,
    config,
    api: new TeamsApi(config, clock),
    tokens: new TeamsTokens(config.keysUrl, config.appId, clock),
    services: new RecentMap(MOST_CONVERSATIONS),
    lastService: undefined,
  };
}

export async function recallService(state: TeamsState, door: ChannelHost): Promise<void> {
  state.lastService ??= asText(await door.kept(STORED));
}

export async function learnService(
  state: TeamsState,
  door: ChannelHost,
  { chat, service }: { chat: string; service: string },
): Promise<void> {
  state.services.set(chat, service);
  if (state.lastService === service) return;
  await door.keep(STORED, service);
  state.lastService = service;
}
