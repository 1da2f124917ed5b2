/**
 * `npm run test:runtimes [-- name …]`: the real programs through the one conformance script. Their models are scripted, and nothing
 * leaves this machine once they are installed. Prints what each was seen to do. `--check NAME`, several times: only these checks.
 * `npm run test:runtimes -- --kill --rounds 30 [--seed N] [name …]`: three of them at work, and Lares killed (whole/kill.ts).
 */
import { parseArgs } from "node:util";
import { CHECKS, type Check } from "./conformance.ts";
import { type InstalledRuntime, RUNTIMES } from "./installed.ts";
import { type Mark, type SeenRuntime, sayChecks, sayProofs } from "./proof-table.ts";
import { runKillRounds, sayKills, violationsOf } from "./whole/kill.ts";
import { killInEachPhase, PHASE_CHECKS } from "./whole/phases.ts";

const { values, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    check: { type: "string", multiple: true },
    kill: { type: "boolean", default: false },
    rounds: { type: "string", default: "30" },
    seed: { type: "string" },
  },
});
const unknown = wanted.filter((name) => !RUNTIMES.some((one) => one.name === name));
if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(", ")}`);
let wrong = 0;
if (values.kill) await killRounds();
else await conformance();
// A daemon that is still there ends with this process.
process.exit(wrong === 0 ? 0 : 1);

async function killRounds(): Promise<void> {
  const rounds = Number(values.rounds);
  const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
  const names = wanted.length > 0 ? wanted : ["claude-code", "codex", "opencode"];
  const chosen = RUNTIMES.filter(({ name }) => names.includes(name));
  const bodies = await Promise.all(chosen.map((one) => one.install().body()));
  say(`kill -9 with ${names.join(", ")} at work, ${rounds} rounds, seed ${seed}`);
  const report = await runKillRounds({ bodies, rounds, seed, say });
  say(sayKills(report));
  const violations = violationsOf(report);
  for (const violation of violations) say(violation);
  wrong = violations.length;
  say(wrong === 0 ? "ok" : `FAILED; again with: npm run test:runtimes -- --kill --rounds ${rounds} --seed ${seed}`);
}

async function conformance(): Promise<void> {
  const seen: SeenRuntime[] = [];
  for (const { name, install } of RUNTIMES)
    if (wanted.length === 0 || wanted.includes(name)) seen.push(await tryAll(name, install()));
  const all = [...CHECKS, ...PHASE_CHECKS];
  say(`\n${sayChecks(seen, all)}\n\n${sayProofs(seen, all)}\n`);
  say(wrong === 0 ? "ok" : `FAILED: ${wrong} checks`);
}

async function tryAll(name: string, installed: InstalledRuntime): Promise<SeenRuntime> {
  const marks = new Map<string, Mark>();
  const tell = (check: string, failure: unknown) => {
    marks.set(check, failure === undefined ? "ok" : "FAILED");
    if (failure !== undefined) {
      wrong++;
      say(`FAILED: ${name}, ${check}\n${failure instanceof Error ? (failure.stack ?? failure.message) : failure}`);
    }
    say(`${name}, ${check}: ${marks.get(check)}`);
  };
  const only = values.check;
  for (const check of CHECKS) if (!only || only.includes(check.name)) await tryOne(installed, check, tell);
  // Before the daemon's model is another one.
  const stage = await installed.openStage();
  const probe = await stage.adapter.probe(AbortSignal.timeout(60_000), 60_000);
  const version = "version" in probe && probe.version !== undefined ? probe.version : probe.state;
  const can = stage.adapter.capabilities(version);
  await stage.close();
  if (!only) await killInEachPhase(await installed.body(), tell);
  return { name, version, can, marks };
}

async function tryOne(
  { openStage }: InstalledRuntime,
  check: Check,
  tell: (check: string, failure: unknown) => void,
): Promise<void> {
  const stage = await openStage();
  try {
    if (check.fits?.(stage) === false) return;
    await check.run(stage);
    tell(check.name, undefined);
  } catch (error) {
    tell(check.name, error);
  } finally {
    await stage.close();
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
