export { type Answer, type Call, type FaultKind, Faults, multipart, startWire, type Wire } from "./wire.ts";
