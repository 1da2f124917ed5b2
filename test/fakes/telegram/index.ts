export { startTelegram } from "./server.ts";
export type { Person, Shown, TelegramFake } from "./types.ts";
