/** What a Signal account has while it lives: the way to its daemon, and its folder. The rest is in the listener's files. */
import type { AdapterParts } from "../account.ts";
import { SignalRpc } from "./api.ts";
import type { SignalAccount } from "./config.ts";

export interface SignalState {
  config: SignalAccount;
  rpc: SignalRpc;
  folder: () => string;
}

export function makeState({ config, folder }: AdapterParts<SignalAccount>): SignalState {
  return { config, rpc: new SignalRpc(config.url, config.number), folder };
}
