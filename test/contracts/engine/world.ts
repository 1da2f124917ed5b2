/**
 * What the engine suite stands on: how an engine is opened and lost, a world that remembers what was done to it, and an app
 * whose segments are written as data, so that the same turn can run here, in a child process, and again after a kill.
 */

import { appendFileSync, readFileSync } from "node:fs";
import {
  type Ctx,
  type Engine,
  type EngineApp,
  type Outcome,
  type SegmentInput,
  Stopped,
  type Tx,
} from "../../../src/core/contracts/index.ts";
import { asId, type Json, type LaneClass, type SessionKey, type TurnId } from "../../../src/core/domain/index.ts";
import type { Clock, Crash, CrashPoint, Guard } from "../../../src/core/kit/index.ts";
import { pretend } from "../../support/pretend.ts";

export interface OpenParts {
  clock?: Clock;
  crash?: Crash;
  guard?: Guard;
  places?: Record<LaneClass, number>;
}

/** One engine on one home, as one process would hold it. */
export interface Opened {
  engine: Engine;
  /** Writes one line into the records with `tx`: what stands in `notes()` was committed, as often as it stands there. */
  note(tx: Tx, text: string): void;
  notes(): Promise<string[]>;
  /** Stops with a drain and lets go of the home. */
  close(drainMs?: number): Promise<void>;
  /** What `kill -9` leaves: nothing more is written, what was not durable is gone, the home is free. */
  abandon(): void;
}

export interface EngineFactory {
  /** A module that exports this factory as `factory`, so that a child process can load it. */
  module: URL;
  /** Rejects with HOME_LOCKED while another process holds the home. */
  open(home: string, parts?: OpenParts): Promise<Opened>;
  /** Takes the home over from whoever holds it, as a second machine would after a partition. Returns how to let go. */
  takeOver(home: string): Promise<() => void>;
  /** The crash points this engine passes. */
  crashPoints: readonly CrashPoint[];
}

export type Repeat = "never" | "with-key" | "safe";

/** One thing a scripted segment does. */
export type Op =
  | { step: string }
  /** `probe`: what the far side can say: what the witness saw, also that it saw nothing (`sure`), or nothing at all. */
  | { effect: string; repeat?: Repeat; probe?: "witness" | "sure" | "blank" }
  | { together: Op[] }
  /** Waits until the test opens this gate. Not journalled. */
  | { gate: string }
  /** Lets the event loop go round, so that others run in between. */
  | { loop: number }
  | { park: { on: string[]; deadline?: number; holds?: boolean } }
  | { fail: string }
  /** A record the store refuses, written with a step. */
  | { badRecord: string };

export interface Script {
  name: string;
  ops: Op[];
  /** What the segment after a throw does; "end" unless told. */
  onBroken?: "end" | "throw";
  /** Lets `Stopped` fly instead of ending with "stopped". */
  deaf?: boolean;
  /** The end's record is refused by the store. */
  badEnd?: boolean;
}

export interface Line {
  gen: number;
  what: "begin" | "leave" | "step" | "act" | "probe" | "parked" | "ended" | "ack";
  name: string;
  turn: string;
  session: string;
  segment?: number;
  /** Step or effect name. */
  of?: string;
  key?: string;
  wake?: Json;
  state?: Json;
  recovered?: boolean;
}

/** Everything that happened outside the engine, in order. With a file it outlives the process (O_APPEND, one write a line). */
export class World {
  readonly lines: Line[] = [];
  gen = 0;
  private readonly file: string | undefined;
  private readonly gates = new Map<string, { open: () => void; opened: Promise<void> }>();

  constructor(file?: string) {
    this.file = file;
    if (file) this.reload();
  }

  /** Reads what another process did. */
  reload(): void {
    let text = "";
    try {
      text = readFileSync(this.file!, "utf8");
    } catch {
      // Nobody has done anything yet.
    }
    const lines = text
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Line);
    this.lines.splice(0, this.lines.length, ...lines);
    this.gen = Math.max(-1, ...lines.map((l) => l.gen)) + 1;
  }

  say(line: Omit<Line, "gen">, gen = this.gen): void {
    const full = { gen, ...line };
    this.lines.push(full);
    if (this.file) appendFileSync(this.file, `${JSON.stringify(full)}\n`);
  }

  gate(name: string): Promise<void> {
    return this.gateOf(name).opened;
  }

  open(name: string): void {
    this.gateOf(name).open();
  }

  private gateOf(name: string) {
    let gate = this.gates.get(name);
    if (!gate) {
      let open = () => {};
      const opened = new Promise<void>((resolve) => {
        open = resolve;
      });
      gate = { open, opened };
      this.gates.set(name, gate);
    }
    return gate;
  }

  of(name: string, what?: Line["what"]): Line[] {
    return this.lines.filter((l) => l.name === name && (!what || l.what === what));
  }

  /** Names of turns in the order in which something first happened to them. */
  firsts(what: Line["what"], session?: string): string[] {
    const lines = this.lines.filter((l) => l.what === what && (!session || l.session === session));
    return [...new Set(lines.map((l) => l.name))];
  }
}

export interface Life {
  /** A process that died does nothing more; code that is still on the stack waits for ever. */
  dead: boolean;
}

let nonces = 0;

/** An app that does what the turn's body says. `life` ends with the process it stands for. */
export function scriptedApp(world: World, opened: Pick<Opened, "note">, life: Life = { dead: false }): EngineApp {
  const gen = world.gen;
  const names = new Map<TurnId, { name: string; session: SessionKey }>();
  const alive = () => (life.dead ? new Promise<never>(() => {}) : Promise.resolve());

  return {
    version: "contract",
    async segment(ctx, input) {
      await alive();
      const script = pretend<Script>(input.body);
      names.set(input.turn, { name: script.name, session: input.session });
      const base = { name: script.name, turn: input.turn, session: input.session, segment: input.segment };
      const say = (line: Partial<Line> & { what: Line["what"] }) => world.say({ ...base, ...line }, gen);
      const { wake, recovered, state } = input;
      say({ what: "begin", wake: pretend<Json>(wake), recovered, ...(state === undefined ? {} : { state }) });
      try {
        const outcome = await runOps({ script, ctx, input, say });
        await alive();
        return outcome;
      } finally {
        await alive();
        say({ what: "leave" });
      }
    },
    settled(turn, session, how) {
      if (!life.dead) world.say({ what: how, name: names.get(turn)?.name ?? "?", turn, session }, gen);
    },
  };

  async function runOps(at: {
    script: Script;
    ctx: Ctx;
    input: SegmentInput;
    say: (line: Partial<Line> & { what: Line["what"] }) => void;
  }): Promise<Outcome> {
    const { script, input } = at;
    const kept = (input.state ?? { next: 0, seen: [] }) as { next: number; seen: Json[] };
    const seen: Json[] = [...kept.seen];
    const end = (how: string): Outcome => ({
      end: { how, seen },
      record: (tx) => {
        opened.note(tx, JSON.stringify({ end: script.name, how, seen }));
        if (script.badEnd && how === "done") tx.run("INSERT INTO no_such_table VALUES (1)");
      },
    });
    if (input.wake.why === "broken") {
      if (script.onBroken === "throw") throw new Error("broken twice");
      seen.push({ broken: input.wake.code, message: input.wake.message });
      return end("broken");
    }
    if (input.wake.why === "event") {
      seen.push(...input.wake.events.map((e) => ({ event: e.name, id: e.id, value: e.value })));
    }
    if (input.wake.why === "deadline") seen.push("deadline");
    try {
      for (let i = kept.next; i < script.ops.length; i++) {
        const op = script.ops[i]!;
        if ("park" in op) {
          const { holds, ...park } = op.park;
          return {
            park: { ...park, state: { next: i + 1, seen }, stateVersion: 1, holdsSession: holds ?? false },
            record: (tx) => opened.note(tx, JSON.stringify({ park: script.name, segment: input.segment })),
          };
        }
        seen.push(...(await runOp(op, at)));
      }
    } catch (error) {
      if (error instanceof Stopped && !script.deaf) return end("stopped");
      throw error;
    }
    return end("done");
  }

  async function runOp(
    op: Op,
    at: { ctx: Ctx; say: (line: Partial<Line> & { what: Line["what"] }) => void },
  ): Promise<Json[]> {
    const { ctx, say } = at;
    await alive();
    if ("together" in op) return (await Promise.all(op.together.map((o) => runOp(o, at)))).flat();
    if ("gate" in op) {
      await world.gate(op.gate);
      return [];
    }
    if ("loop" in op) {
      for (let i = 0; i < op.loop; i++) await loop();
      return [];
    }
    if ("fail" in op) throw new Error(op.fail);
    if ("step" in op) {
      const value = await ctx.step(op.step, async () => {
        await alive();
        say({ what: "step", of: op.step });
        // New on each run: a value that changed was not replayed.
        return `${op.step}#${process.pid}.${gen}.${nonces++}`;
      });
      return [value];
    }
    if ("badRecord" in op) {
      const value = await ctx.step(
        op.badRecord,
        async () => "value",
        (tx) => tx.run("INSERT INTO no_such_table VALUES (1)"),
      );
      return [value];
    }
    if ("effect" in op) {
      const key = { key: "" };
      const result = await ctx.effect(
        op.effect,
        async (k) => {
          await alive();
          key.key = k;
          say({ what: "act", of: op.effect, key: k });
          return `${op.effect}!`;
        },
        {
          repeat: op.repeat ?? "never",
          ...(op.probe
            ? {
                probe: async (k: string) => {
                  await alive();
                  say({ what: "probe", of: op.effect, key: k });
                  const done = world.lines.some((l) => l.what === "act" && l.key === k);
                  if (op.probe === "sure" && !done) return { never: true as const };
                  return op.probe !== "blank" && done ? { ok: `${op.effect}?` } : undefined;
                },
              }
            : {}),
        },
      );
      return [pretend<Json>(result)];
    }
    throw new Error(`no such op ${JSON.stringify(op)}`);
  }
}

export const loop = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Waits for a condition. The limit only turns a hang into a sentence. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, pauseMs?: number): Promise<void> {
  const limit = performance.now() + 15_000;
  while (!(await holds())) {
    if (performance.now() > limit) throw new Error(`it never came to this: ${what}`);
    await (pauseMs === undefined ? loop() : new Promise((resolve) => setTimeout(resolve, pauseMs)));
  }
}

export const session = (name: string) => asId<SessionKey>(name);
