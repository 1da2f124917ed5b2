/**
 * `npm run test:runtimes [-- name]`: the real programs, each from its registry into a cache folder, once, through the one conformance script.
 * Their models are scripted, and nothing leaves this machine after that. Prints what each was seen to do.
 */
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { findNode, fromNpm, fromPyPi } from "../support/outside.ts";
import { CHECKS, type RealStage } from "./conformance.ts";
import { openRealAcpStage } from "./real-acp.ts";
import { openRealClaudeStage } from "./real-claude-code.ts";
import { openRealCodexStage } from "./real-codex.ts";
import { openRealClawStage, type RealGateway, startRealGateway } from "./real-openclaw.ts";

interface RealRuntime {
  name: string;
  /** Installs it where it isn't yet, and opens a stage for one check. */
  install(): () => Promise<RealStage>;
}

/** One folder for all of them. Their install scripts don't run. */
const CACHE = join(tmpdir(), "lares-runtimes");

const RUNTIMES: readonly RealRuntime[] = [
  {
    name: "claude-code",
    install() {
      const given = process.env.LARES_REAL_CLAUDE;
      const folder = () => fromNpm(join(CACHE, "claude-code"), { "@anthropic-ai/claude-code": "2.1.325" });
      const native = `claude-code-${process.platform}-${process.arch}/claude`;
      const program = given ?? join(folder(), "node_modules/@anthropic-ai", native);
      return () => openRealClaudeStage(program);
    },
  },
  {
    name: "codex",
    install() {
      const given = process.env.LARES_REAL_CODEX;
      const folder = () => fromNpm(join(CACHE, "codex"), { "@openai/codex": "0.166.0" });
      const program = given ?? join(folder(), "node_modules/.bin/codex");
      return () => openRealCodexStage(program);
    },
  },
  {
    name: "opencode",
    install() {
      const folder = () => fromNpm(join(CACHE, "opencode"), { "opencode-ai": "1.18.33" });
      const native = `opencode-${process.platform}-${process.arch}/bin/opencode`;
      const program = process.env.LARES_REAL_OPENCODE ?? join(folder(), "node_modules", native);
      return () => openRealAcpStage("opencode", program, { shell: "bash", lent: "lares_note" });
    },
  },
  {
    name: "hermes",
    install() {
      const python = fromPyPi(join(CACHE, "hermes"), ["hermes-agent[acp,mcp]==0.19.0"]);
      if (!python) throw new Error("There is no Python to install Hermes with.");
      const program = join(dirname(python), "hermes");
      return () =>
        openRealAcpStage("hermes", program, { shell: "terminal", lent: "mcp__lares__note", danger: "; rm -rf ./none" });
    },
  },
  {
    name: "openclaw",
    install() {
      const folder = fromNpm(join(CACHE, "openclaw"), { openclaw: "2026.9.6" });
      const node = findNode(24, "OpenClaw");
      let gateway: Promise<RealGateway> | undefined;
      return async () => {
        gateway ??= startRealGateway(node, join(folder, "node_modules/openclaw/openclaw.mjs"));
        return openRealClawStage(await gateway);
      };
    },
  },
];

type Mark = "ok" | "FAILED" | "-";

const wanted = process.argv.slice(2);
const table = new Map<string, Map<string, Mark>>();
let wrong = 0;
for (const { name, install } of RUNTIMES) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  table.set(name, await tryAll(name, install()));
}
printTable();
// A daemon that is still there ends with this process.
process.exit(wrong === 0 ? 0 : 1);

async function tryAll(name: string, openStage: () => Promise<RealStage>): Promise<Map<string, Mark>> {
  const marks = new Map<string, Mark>();
  for (const check of CHECKS) {
    const stage = await openStage();
    try {
      if (check.fits?.(stage) === false) marks.set(check.name, "-");
      else {
        await check.run(stage);
        marks.set(check.name, "ok");
      }
    } catch (error) {
      wrong++;
      marks.set(check.name, "FAILED");
      say(`FAILED: ${name}, ${check.name}\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    } finally {
      await stage.close();
    }
    say(`${name}, ${check.name}: ${marks.get(check.name)}`);
  }
  return marks;
}

function printTable(): void {
  const names = [...table.keys()];
  say(`\n| | proves | ${names.join(" | ")} |\n|---|---|${names.map(() => "---|").join("")}`);
  for (const { name, proves } of CHECKS)
    say(`| ${name} | ${proves.join(", ")} | ${names.map((one) => table.get(one)!.get(name)).join(" | ")} |`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
