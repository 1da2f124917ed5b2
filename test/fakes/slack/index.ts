/**
 * What tests use of the fake Slack.
 *
 * Documentation: see server.ts
 */
export { slackSignature } from "./delivery.ts";
export { startSlack } from "./server.ts";
export type { SlackFake, SlackMessage } from "./types.ts";
