export { chunk } from "./chunk.ts";
export { type OutboxConfig, outboxConfig } from "./config.ts";
export { Live, type LiveParts } from "./live.ts";
export { makeMessagePort } from "./message-port.ts";
export { type Intention, Outbox, type OutboxParts } from "./outbox.ts";
export { type MessagePiece, pieces } from "./pieces.ts";
export {
  deliveriesByState,
  deliveriesOn,
  eraseDeliveries,
  listDeliveries,
  questionAt,
  unsentByState,
} from "./store.ts";
