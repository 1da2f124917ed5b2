export { chunk } from "./chunk.ts";
export { type OutboxConfig, outboxConfig } from "./config.ts";
export { Outbox, type OutboxParts } from "./outbox.ts";
