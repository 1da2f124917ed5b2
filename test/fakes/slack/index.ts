export { slackSignature } from "./delivery.ts";
export { startSlack } from "./server.ts";
export type { SlackFake, SlackMessage } from "./types.ts";
