/** The fake agent that has a model behind it (test/fakes/acp-agent/with-model.mjs), described or as an npm package. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { scratch } from "./scratch.ts";

const AGENT = fileURLToPath(new URL("../fakes/acp-agent/with-model.mjs", import.meta.url));

/** As a person describes it under `runtimes` in lares.yaml. */
export function describeModelled(quirks = "", more: object = {}) {
  return {
    title: "The agent",
    command: process.execPath,
    args: [AGENT],
    asks: "every-call",
    resume: "load",
    apis: ["openai-chat"],
    env: {
      LARES_FAKE_HOME: "{home}/fake",
      LARES_FAKE_MODEL: "{url}",
      LARES_FAKE_TOKEN: "{token}",
      LARES_FAKE_QUIRKS: quirks,
    },
    ...more,
  };
}

/** The same as npm would pack it, with this version. */
export function packModelled(version: string, program = "modelled"): string {
  const source = `#!/usr/bin/env node\n${readFileSync(AGENT, "utf8").replace("3.2.1", version)}`;
  const manifest = { name: "modelled", version, type: "module", bin: { [program]: "agent.mjs" } };
  const folder = scratch("package");
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(folder, "agent.mjs"), source, { mode: 0o755 });
  execFileSync("npm", ["pack", "--pack-destination", folder], { cwd: folder, stdio: "ignore" });
  return join(folder, `modelled-${version}.tgz`);
}
