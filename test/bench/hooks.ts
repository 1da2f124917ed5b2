/** What a hook costs a turn: none, a command that observes or judges, and a plugin that judges. */
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chat, end, percentile, post, startLares } from "./process.ts";

const TURNS = 60;
const root = new URL("../../", import.meta.url).pathname;

type HookCase = { what: string; config: object; plugin?: true };

const command = (event: string) => ({
  eventHooks: { commands: { [event]: [{ hooks: [{ type: "command", command: "exit 0" }] }] } },
});
const CASES: readonly HookCase[] = [
  { what: "no hook", config: {} },
  { what: "a command that observes turn.ended", config: command("turn.ended") },
  { what: "a command that judges tool.planned", config: command("tool.planned") },
  { what: "a plugin that judges tool.planned", config: {}, plugin: true },
];

/** A turn with one call of a tool, over HTTP and with a model that answers at once. */
export async function benchHooks(modelUrl: string): Promise<{ what: string; p50: number; p95: number }[]> {
  const figures: { what: string; p50: number; p95: number }[] = [];
  for (const one of CASES) {
    const home = mkdtempSync(join(tmpdir(), "lares-bench-"));
    // JSON is YAML.
    writeFileSync(join(home, "lares.yaml"), JSON.stringify({ policy: { mode: "record" }, ...one.config }));
    const lares = await startLares(modelUrl, home);
    if (one.plugin) {
      const { json } = await post(lares, "/rpc/plugins.stage", { from: makePlugin() });
      const { status } = await post(lares, "/rpc/plugins.accept", { digest: json.digest });
      if (status !== 200) throw new Error(`the plugin isn't installed: ${JSON.stringify(json)}`);
    }
    const text = 'tool:list {"path":"."} then: say:ok';
    // The first ones start the plugin and load what a turn needs.
    for (let i = 0; i < 5; i++) await chat(lares, "ben", text);
    const times: number[] = [];
    for (let i = 0; i < TURNS; i++) times.push(await chat(lares, `ben${i % 10}`, text));
    figures.push({ what: one.what, p50: percentile(times, 50), p95: percentile(times, 95) });
    await end(lares);
  }
  return figures;
}

function makePlugin(): string {
  const dir = join(mkdtempSync(join(tmpdir(), "lares-bench-plugin-")), "judge");
  mkdirSync(dir);
  cpSync(join(root, "test/fakes/plugin/main.mjs"), join(dir, "main.mjs"));
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder as a plugin writes it
  const code = { command: "node", args: ["${PLUGIN_ROOT}/main.mjs"] };
  const own = { code, config: { type: "object" }, rights: { hooks: ["tool.planned"] } };
  const $schema = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json";
  writeFileSync(join(dir, "plugin.json"), JSON.stringify({ $schema, name: "judge", extensions: { "dev.lares": own } }));
  return dir;
}
