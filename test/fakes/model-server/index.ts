/**
 * What tests use of the scripted model server.
 *
 * Documentation: see server.ts
 */
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
