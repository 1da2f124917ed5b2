/**
 * What tests use of the fake Telegram.
 *
 * Documentation: see server.ts
 */
export { startTelegram } from "./server.ts";
export type { Person, Shown, TelegramFake } from "./types.ts";
