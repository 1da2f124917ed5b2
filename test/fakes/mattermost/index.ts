export { type MattermostFake, type MattermostPost, startMattermostFake } from "./server.ts";
