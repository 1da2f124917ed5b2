/**
 * What tests use of the fake Mattermost.
 *
 * Documentation: see server.ts
 */
export { type MattermostFake, type MattermostPost, startMattermostFake } from "./server.ts";
