/** Agents of others that ours may ask, over A2A. The SDK is loaded with the first task. */
export { peersConfig } from "./config.ts";
export { type OpenedPeers, openPeers } from "./open.ts";
export { dropOpenHires, eraseHires } from "./store.ts";
