export { capResults } from "./cap.ts";
export { type CompactBody, type Compacted, Compactions } from "./compaction.ts";
export { type ContextConfig, contextConfig } from "./config.ts";
export { type ContextParts, Contexts, type Prompt } from "./context.ts";
export { type ContextLedger, readLedger } from "./ledger.ts";
export { eraseHistory, findPrompt, hasReadOutside, insertImported, recordOfTurn } from "./store.ts";
export { estimateTokens, textTokens } from "./tokens.ts";
export { makeResultCap } from "./tool-room.ts";
export { wellFormed } from "./well-formed.ts";
