import { defineConfig } from "tsdown";

/** Read at every start. Bundled, they are a few files instead of two hundred, and without what is never called. */
const AT_START = /^(zod|hono|@hono\/node-server|unbash|ws|commander|croner)(\/|$)/;

/** Loaded for the first turn. Bundled, they share the schema library above instead of bringing two hundred files of it along. */
const AT_FIRST_TURN = /^(@ai-sdk\/|(eventsource-parser|stemmer)(\/|$))/;

// One bundle with lazy chunks: fewer files to open makes the start fast.
export default defineConfig({
  entry: { main: "src/main.ts" },
  format: "esm",
  platform: "node",
  target: "node20",
  outDir: "dist",
  // Not the whole folder: the web UI is built into dist/ui beside it.
  clean: ["dist/*.js", "dist/*.js.map"],
  dts: false,
  sourcemap: true,
  fixedExtension: false,
  // V8 keeps the text of a file in memory, comments too: without them it is idle at about 2 MB less. Licences stay.
  outputOptions: { comments: { annotation: false, jsdoc: false, legal: true } },
  deps: { alwaysBundle: [AT_START, AT_FIRST_TURN], onlyBundle: false },
  plugins: [
    {
      name: "zod speaks English",
      load: (id: string) =>
        /zod\/v4\/locales\/index\.js$/.test(id) ? 'export { default as en } from "./en.js";' : null,
    },
    {
      // V8 keeps the text of a file in memory, at two bytes a character as soon as one of them is beyond Latin-1. Written as escapes,
      // a few arrows and dashes no longer double the size of every chunk they occur in (idle: about 113 → 107 MB).
      name: "one byte per character",
      generateBundle(_options: unknown, bundle: Record<string, { type: string; code?: string; fileName: string }>) {
        for (const chunk of Object.values(bundle)) {
          if (chunk.type !== "chunk" || chunk.code === undefined) continue;
          if (/String\.raw`[^`]*[^\x00-\xff]/.test(chunk.code))
            throw new Error(`${chunk.fileName}: an escape inside String.raw would change its text`);
          chunk.code = chunk.code.replace(/[^\x00-\xff]/g, escaped);
        }
      },
    },
  ],
});

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
