/** What a Discord account knows while it lives. How far it has read is committed with the messages (DISCORD-1, DISCORD-2). */
import type { AccountPolicy } from "../../../core/contracts/index.ts";
import { asText } from "../../../core/domain/index.ts";
import type { Clock, Log } from "../../../core/kit/index.ts";
import { type AdapterParts, toPolicy } from "../account.ts";
import { OwnIdentity } from "../own-identity.ts";
import { DiscordApi } from "./api.ts";
import type { DiscordAccount } from "./config.ts";
import { DiscordPlaces } from "./places.ts";

export interface DiscordState {
  config: DiscordAccount;
  clock: Clock;
  log: Log;
  policy: AccountPolicy;
  api: DiscordApi;
  places: DiscordPlaces;
  self: OwnIdentity<DiscordMe>;
}

export interface DiscordMe {
  id: string;
  name: string;
}

export function makeState({ config, clock, log }: AdapterParts<DiscordAccount>): DiscordState {
  const api = new DiscordApi(config.apiUrl, config.token);
  const self = new OwnIdentity(async (signal) => {
    const said = await api.call("GET", "/users/@me", signal);
    return { id: asText(said.id) ?? "", name: asText(said.username) ?? "" };
  });
  return { config, clock, log, policy: toPolicy(config), api, places: new DiscordPlaces(api), self };
}
