export { outboxConfig } from "./config.ts";
export { Live } from "./live.ts";
export { makeMessagePort } from "./message-port.ts";
export { Outbox } from "./outbox.ts";
export { makeOwnerNotices } from "./owner-notices.ts";
export { pieces } from "./pieces.ts";
export {
  deliveriesByState,
  deliveriesOn,
  doubtOutstanding,
  eraseDeliveries,
  findDelivered,
  LOST_DELIVERIES,
  listDeliveries,
  lostAmong,
  questionAt,
  unsentByState,
} from "./store.ts";
