/** What a Matrix account knows while it lives. All of it can be asked for again, so nothing here is stored. */
import type { Log } from "../../../core/kit/index.ts";
import type { AdapterParts } from "../account.ts";
import { OwnIdentity } from "../own-identity.ts";
import { MatrixApi } from "./api.ts";
import type { MatrixAccount } from "./config.ts";
import { Rooms } from "./rooms.ts";

export interface MatrixState {
  config: MatrixAccount;
  log: Log;
  api: MatrixApi;
  rooms: Rooms;
  self: OwnIdentity<MatrixMe>;
}

export interface MatrixMe {
  id: string;
  /** As people see it; some call the bot by it. */
  name: string | undefined;
}

export function makeState({ config, log }: AdapterParts<MatrixAccount>): MatrixState {
  const api = new MatrixApi(config.homeserver, config.token);
  const self = new OwnIdentity(async (signal) => {
    const id = await api.whoami(signal);
    return { id, name: await api.displayName(id, signal) };
  });
  return { config, log, api, rooms: new Rooms(api), self };
}
