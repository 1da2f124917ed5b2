/** What an IRC account knows while it lives, and its connection while there is one. */
import type { Clock, Log } from "../../../core/kit/index.ts";
import type { AdapterParts } from "../account.ts";
import { RecentMap } from "../recent.ts";
import { refused } from "../sending.ts";
import type { IrcAccount } from "./config.ts";
import type { IrcConnection } from "./connection.ts";

export interface IrcState {
  config: IrcAccount;
  clock: Clock;
  log: Log;
  /** The nick each person was last heard under, and when; by `nicks.ts`. */
  nicks: RecentMap<{ nick: string; at: number }>;
  live: IrcConnection | undefined;
}

/** People who are talking to the account at a time; somebody forgotten is looked up again when they write. */
const MOST_NICKS = 200;

export function makeState({ config, clock, log }: AdapterParts<IrcAccount>): IrcState {
  return { config, clock, log, nicks: new RecentMap(MOST_NICKS), live: undefined };
}

export function getLive({ live }: IrcState): IrcConnection {
  if (!live) throw refused("Not connected to the IRC server.", "later");
  return live;
}
