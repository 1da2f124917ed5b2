export { PromptCache } from "./cache.ts";
export {
  directiveScript,
  envelopeOf,
  isCompacting,
  notesOf,
  parseDirectives,
  seenTexts,
  textOf,
} from "./directives.ts";
export { type ModelServer, type ModelServerOptions, startModelServer } from "./server.ts";
export type * from "./types.ts";
