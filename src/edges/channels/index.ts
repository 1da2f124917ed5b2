export { limitsShape } from "./account.ts";
export { ADAPTERS, channelsConfig, configured, configuredAccounts, whyUnreachable } from "./adapters.ts";
export { channelAdvice } from "./advise.ts";
export { Libraries } from "./library.ts";
export { askAccount } from "./setup/ask.ts";
export { ChannelSetup } from "./setup/setup.ts";
export { sign } from "./webhook/sign.ts";
