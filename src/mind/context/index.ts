export { type ContextConfig, contextConfig } from "./config.ts";
export { type ContextParts, Contexts, type Prompt } from "./context.ts";
export { estimateTokens } from "./tokens.ts";
export { wellFormed } from "./well-formed.ts";
