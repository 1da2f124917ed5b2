export type { AdapterEntry } from "./account.ts";
export { limitsShape } from "./account.ts";
export {
  ADAPTERS,
  accountFolder,
  type ConfiguredAccount,
  canReach,
  channelsConfig,
  configured,
  configuredAccounts,
  type OpeningParts,
} from "./adapters.ts";
export { Libraries } from "./library.ts";
export { type AccountAsked, askAccount } from "./setup/ask.ts";
export { ChannelSetup, type ChannelSetupParts } from "./setup/setup.ts";
export { sign } from "./webhook/sign.ts";
