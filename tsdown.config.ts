import { defineConfig } from "tsdown";

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
});
