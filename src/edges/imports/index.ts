export { readHermes } from "./hermes.ts";
export type { ImportItem } from "./items.ts";
export { readOpenClaw } from "./openclaw.ts";
export type { ReadSqlite } from "./store.ts";
