import { defineConfig } from "tsdown";

// One bundle with lazy chunks: fewer files to open makes the start fast.
export default defineConfig({
  entry: { main: "src/main.ts" },
  format: "esm",
  platform: "node",
  target: "node20",
  outDir: "dist",
  clean: true,
  dts: false,
  sourcemap: true,
  fixedExtension: false,
});
