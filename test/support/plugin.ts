// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as a plugin writes them
/** A started Lares with plugins: folders made for the test, staged and accepted over the protocol. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { startLares } from "./lares.ts";
import { startModel, toolResults } from "./model.ts";
import { scratch } from "./scratch.ts";

const FAKE = fileURLToPath(new URL("../fakes/plugin/main.mjs", import.meta.url));

/** A folder with a plugin in it that runs the fake's code. */
export function makePlugin(name: string, own: object = {}, files: Record<string, string> = {}): string {
  const dir = join(scratch("plugin"), name);
  const part = {
    code: { command: "node", args: ["${PLUGIN_ROOT}/main.mjs"] },
    config: { type: "object" },
    ...own,
    rights: { tools: ["act"], ...(own as { rights?: object }).rights },
  };
  const manifest = {
    $schema: "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json",
    ...{ name, version: "1.0.0", description: "Made for a test." },
    extensions: { "dev.lares": part },
  };
  mkdirSync(dir, { recursive: true });
  cpSync(FAKE, join(dir, "main.mjs"));
  const all = { "plugin.json": JSON.stringify(manifest, null, 2), ...files };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  return dir;
}

export async function startPlugins(config: object = {}, env: Record<string, string> = {}) {
  const model = await startModel();
  const lares = await startLares({
    env: { ...model.env, ...env },
    config: { policy: { allow: { mcp: ["*/*"] } }, ...config },
  });
  onTestFinished(async () => {
    await lares.dispose();
    await model.close();
  });
  const install = async (from: string) => {
    const { digest } = await lares.rpc("plugins.stage", { from });
    return lares.rpc("plugins.accept", { digest });
  };
  const state = async (name: string) => (await lares.rpc("plugins.list", {})).plugins.find((one) => one.name === name)!;
  /** What a tool answered, as the model read it. */
  const call = async (tool: string, input: object, person = "ana", query = "weather") => {
    const run = `tool:tool_run ${JSON.stringify({ name: tool, input })}`;
    await lares.chat(person, `tool:tool_search ${JSON.stringify({ query })} then: ${run} then: say:done`);
    return toolResults(model.requests.at(-1)!).at(-1)!;
  };
  const stored = (name: string, file: string) => readFileSync(join(lares.home, "plugins/data", name, file), "utf8");
  return { lares, model, install, state, call, stored };
}
