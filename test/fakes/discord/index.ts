export { startDiscord } from "./server.ts";
export type { DiscordFake, DiscordMessage, DiscordPerson } from "./types.ts";
