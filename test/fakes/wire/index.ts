/**
 * What the fakes use of the shared server.
 *
 * Documentation: see wire.ts
 */
export {
  type Answer,
  asked,
  type Call,
  type FaultKind,
  Faults,
  multipart,
  startWire,
  type Upload,
  type Wire,
} from "./wire.ts";
