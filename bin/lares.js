#!/usr/bin/env node
// As thin as can be: every millisecond here is part of every command.
import { existsSync } from "node:fs";
import module from "node:module";

// Keeps compiled code between starts, on the Nodes that can (22.8 and newer).
module.enableCompileCache?.();

try {
  await import("../dist/main.js");
} catch (error) {
  if (error?.code !== "ERR_MODULE_NOT_FOUND" || existsSync(new URL("../dist/main.js", import.meta.url))) throw error;
  process.stderr.write("Lares is not built yet. Run: npm start (installs, builds and starts) or: npm run build\n");
  process.exitCode = 1;
}
