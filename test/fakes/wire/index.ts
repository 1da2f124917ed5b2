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
