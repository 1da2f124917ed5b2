export { type MustReach, withReach } from "./call.ts";
export { type GatewayConfig, gatewayConfig } from "./config.ts";
export { localUrl, mayExpose } from "./expose.ts";
export { withKeys } from "./idempotency.ts";
export { EventStream } from "./live/events.ts";
export type { Caller, Doorkeeper, GatewayParts, Handlers } from "./ports.ts";
export { type Gateway, startGateway } from "./server.ts";
