/** What keeps src/app a place that builds and does not decide: which files are in it, and how long they are. */

/** Beside these, app/ has the builders in instance/ and the handlers in methods/. */
export const FILES: readonly string[] = [
  "app/app.ts",
  "app/base.ts",
  "app/config.ts",
  "app/examine.ts",
  "app/index.ts",
  "app/instance.ts",
  "app/lives.ts",
  "app/server.ts",
];
export const FOLDERS = /^app\/(instance|methods)\/[a-z-]+\.ts$/;

/** A limit that goes up only with a new noun of the protocol: what is added to app/ and is more than wiring belongs to a room. */
export const MOST_LINES = 3905;
