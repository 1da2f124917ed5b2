/** Cuts the power at many points of one recording, and counts what is wrong afterwards. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { Lares } from "../support/index.ts";
import { checkHome, type Seen, writeHome } from "./check.ts";
import { type Choose, Disk } from "./disk.ts";
import { type Recording, record } from "./record.ts";
import type { Op } from "./trace.ts";

export interface PowerReport {
  states: number;
  distinct: number;
  points: number;
  whole: number;
  seconds: number;
  /** What is wrong, and in how many states. */
  violations: Map<string, number>;
}

export async function runPower(how: {
  dir: string;
  seed: number;
  states: number;
  rounds: number;
  whole: number;
  say: (line: string) => void;
}): Promise<PowerReport> {
  const began = performance.now();
  const recording = await record(how.rounds);
  try {
    const { ops } = recording;
    how.say(`${ops.length} operations, ${ops.filter(({ kind }) => kind === "sync").length} syncs`);
    const report: PowerReport = { states: 0, distinct: 0, points: 0, whole: 0, seconds: 0, violations: new Map() };
    await cutEverywhere(recording, how, report);
    report.seconds = (performance.now() - began) / 1000;
    return report;
  } finally {
    await recording.close();
  }
}

/** Where something became durable, where the world heard something, and where a name changed. */
function isPoint(op: Op): boolean {
  return op.kind !== "write";
}

async function cutEverywhere(
  recording: Recording,
  {
    dir,
    seed,
    states,
    whole,
    say,
  }: { dir: string; seed: number; states: number; whole: number; say: (line: string) => void },
  report: PowerReport,
): Promise<void> {
  const { ops, config } = recording;
  const points = ops.flatMap((op, i) => (isPoint(op) ? [i] : []));
  const perPoint = Math.max(3, Math.ceil(states / (2 * points.length)));
  const wholeEvery = whole ? Math.max(1, Math.floor(points.length / whole)) : Number.POSITIVE_INFINITY;
  const choose = chooser(seed);
  const disk = new Disk(new Map([["lares.yaml", Buffer.from(config)]]));
  const world = new World(recording);
  const known = new Set<string>();
  const complain = (what: string) => report.violations.set(what, (report.violations.get(what) ?? 0) + 1);
  let at = 0;
  for (const [n, point] of points.entries()) {
    for (const when of ["before", "after"] as const) {
      for (; at < point + (when === "after" ? 1 : 0); at++) {
        disk.apply(ops[at]!);
        world.hear(ops[at]!);
      }
      report.points++;
      for (let i = 0; i < perPoint; i++) {
        const home = disk.cut(choose, (["kept", "lost"] as const)[i] ?? "mixed");
        report.states++;
        const print = fingerprint(home);
        if (!known.has(print)) report.distinct++;
        known.add(print);
        for (const what of await checkHome(join(dir, "home"), home, world.seen)) {
          complain(shorten(what));
        }
        if (i === 2 && when === "after" && n % wholeEvery === wholeEvery - 1) {
          report.whole++;
          for (const what of await startOn(join(dir, `whole-${report.whole}`), home, world.seen, recording))
            complain(what);
        }
      }
    }
    if (n % 100 === 0) say(`  point ${n} of ${points.length}: ${report.states} states`);
  }
}

/** Words are numbered; what is wrong with them is counted together. */
function shorten(what: string): string {
  return what.replace(/w\d+x\d+y/g, "w…");
}

/** What the world has seen so far. */
class World {
  readonly seen: {
    answered: Set<string>;
    accepted: Set<string>;
    sent: Set<string>;
    stored: Map<string, string>;
  } & Seen = {
    answered: new Set(),
    accepted: new Set(),
    sent: new Set(),
    stored: new Map(),
  };
  private readonly files: ReadonlyMap<string, string>;

  constructor({ files }: Recording) {
    this.files = files;
  }

  hear(op: Op): void {
    if (op.kind !== "said") return;
    const { text } = op;
    const words = [...text.matchAll(/w\dx\d+y(?:ann|bob|cid|ran|hook)z/g)].map(([word]) => word);
    // An answer to a caller, an acknowledgement of a hook, a delivery to the platform; requests to the model say nothing to anybody.
    if (/^HTTP\/1\.1 200/.test(text) && /"response":/.test(text))
      for (const word of words) this.seen.answered.add(word);
    if (/"chat":"c"/.test(text) && /"text":/.test(text)) for (const word of words) this.seen.sent.add(word);
    for (const [id, content] of this.files) {
      if (/^HTTP\/1\.1 20/.test(text) && text.includes(id)) this.seen.stored.set(`attachments/${id}`, content);
    }
  }
}

/** The real program on such a disk: it starts, has every answer, and sends nothing that was sent. */
async function startOn(
  dir: string,
  home: ReadonlyMap<string, Buffer | "folder">,
  seen: Seen,
  recording: Recording,
): Promise<string[]> {
  const { far, model } = recording;
  writeHome(dir, home);
  const lares = new Lares({ home: dir, env: { ...model.env, LARES_TOKEN: "" } });
  const before = far.shown.length;
  try {
    await lares.start();
    await lares.chat("after", "say:after the cut");
    const wrong: string[] = [];
    for (const { text } of far.shown.slice(before))
      if (seen.sent.has(text)) wrong.push("a message that was sent was sent again");
    return wrong;
  } catch (error) {
    return [`Lares did not start: ${error instanceof Error ? error.message.slice(0, 300) : String(error)}`];
  } finally {
    await lares.dispose();
  }
}

function fingerprint(home: ReadonlyMap<string, Buffer | "folder">): string {
  const hash = createHash("sha1");
  for (const [path, content] of [...home].sort(([a], [b]) => (a < b ? -1 : 1)))
    hash.update(path).update("\0").update(content);
  return hash.digest("base64");
}

/** Numbers that come again with the same seed (mulberry32). */
function chooser(seed: number): Choose {
  let state = seed >>> 0;
  return (most) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * (most + 1));
  };
}
