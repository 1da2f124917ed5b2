/**
 * What tests use of the fake Discord.
 *
 * Documentation: see server.ts
 */
export { startDiscord } from "./server.ts";
export type { DiscordFake, DiscordMessage, DiscordPerson } from "./types.ts";
