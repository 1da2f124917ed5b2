export { withReach } from "./call.ts";
export { gatewayAdvice, gatewayConfig } from "./config.ts";
export { localUrl, mayExpose } from "./expose.ts";
export { withKeys } from "./idempotency.ts";
export { EventStream } from "./live/events.ts";
export { loadRunToolFace, type RunToolFace } from "./mcp/load.ts";
export type { GatewayParts, Handlers } from "./ports.ts";
export { type Gateway, startGateway } from "./server.ts";
