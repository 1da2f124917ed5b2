/** What a Telegram account knows while it lives. Parts of albums that must outlive it are stored by the shelf (TELEGRAM-3). */
import type { Clock, Log } from "../../../core/kit/index.ts";
import type { AdapterParts } from "../account.ts";
import { OwnIdentity } from "../own-identity.ts";
import { AlbumShelf } from "./albums.ts";
import { TelegramApi } from "./api.ts";
import type { TelegramAccount } from "./config.ts";
import type { TelegramMe } from "./events.ts";

export interface TelegramState {
  config: TelegramAccount;
  clock: Clock;
  log: Log;
  api: TelegramApi;
  self: OwnIdentity<TelegramMe>;
  albums: AlbumShelf;
}

export function makeState({ config, clock, log }: AdapterParts<TelegramAccount>): TelegramState {
  const api = new TelegramApi(config.apiUrl, config.token);
  const self = new OwnIdentity((signal) => api.call<TelegramMe>("getMe", {}, signal, { reads: true }));
  return { config, clock, log, api, self, albums: new AlbumShelf(clock) };
}
