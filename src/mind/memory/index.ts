export { makeAsking } from "./asking.ts";
export { type Asking, Capture, type CaptureParts } from "./capture/capture.ts";
export { Condense } from "./condense/condense.ts";
export type { NightBody } from "./condense/nights.ts";
export type { Condensation } from "./condense/store.ts";
export { type MemoryConfig, memoryConfig } from "./config.ts";
export { Documents, type Folder, type IndexReport } from "./documents/documents.ts";
export {
  type AddOutcome,
  agentScope,
  type Found,
  listScopes,
  MEMORY_KINDS,
  type MemoryKind,
  type NewMemory,
  PUBLIC,
  personScope,
  type Remembered,
  SHARED,
  type Trust,
  teamScope,
  type Viewer,
} from "./kinds.ts";
export { type ForgottenBy, Memory, type MemoryParts } from "./memory.ts";
export { moment as momentOfFact } from "./moment.ts";
export { replacing } from "./replacing.ts";
export { MemoryRooms } from "./rooms.ts";
export { searchBoth } from "./search/both.ts";
export { WEIGHTS, type Weights } from "./search/rank.ts";
export type { SearchQuery } from "./search/search.ts";
export { SessionIndex, type SessionQuery } from "./sessions/sessions.ts";
export { takeSnapshot } from "./snapshot.ts";
export { makeToolPort as makeMemoryToolPort, recall } from "./tool-port.ts";
export {
  type ForgottenTalk,
  findAbout,
  findReplaced,
  forgetAbout,
  forgetFact,
  type MemoryAccess,
  untrusted,
} from "./topics.ts";
export type { EmbeddingProgress } from "./vectors/embedding.ts";
export { MemoryView } from "./view/view.ts";
export { makeReaders, type SessionViewer, viewerFrom } from "./viewers.ts";
