export { type CompactBody, Compactions } from "./compaction.ts";
export { contextConfig } from "./config.ts";
export { type ContextParts, Contexts } from "./context.ts";
export { readLedger } from "./ledger.ts";
export { eraseHistory, findPrompt, hasReadOutside, insertImported, readTurnRecord } from "./store.ts";
export { estimateTokens, pictureTokens, textTokens } from "./tokens.ts";
export { makeResultCap } from "./tool-room.ts";
