export { type GatewayConfig, gatewayConfig } from "./config.ts";
export type { Caller, GatewayParts, Handlers, Principal } from "./ports.ts";
export { type Gateway, startGateway } from "./server.ts";
