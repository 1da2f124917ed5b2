/**
 * Random lives of the whole program: send, steer, interrupt, retry, crash, in any order and at any moment.
 *
 * PROPERTY-1: every acknowledged message ends visibly, once; the same key gives the same turn and the same answer, for ever.
 * PROPERTY-2: it is in exactly one recorded model request, or its sender was told that it was stopped before one.
 * PROPERTY-3: it is in the history exactly once, in the order of acknowledgement; only a message that joined another turn overtakes
 *     one that wanted a turn of its own.
 * PROPERTY-4: every model request has its messages in that order, none twice.
 *
 * A crash is the files of the home as they are at that instant, opened by a new life, while the old one is cut off: what
 * `kill -9` leaves behind, many times a second. The real kill is in test/kill and crash-points.test.ts.
 */
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RunningApp, startApp } from "../../src/app/index.ts";
import type { ChatAnswer } from "../../src/core/protocol/index.ts";
import { readEnvironment } from "../../src/ground/config/index.ts";
import { openDatabase } from "../../src/ground/records/driver.ts";
import { scratch, startModel, TOKEN, until, userTexts } from "../support/index.ts";
import fc, { SEED } from "../support/property.ts";

type Mode = "steer" | "followup" | "collect" | "interrupt";
type Move =
  | { do: "send"; session: number; mode: Mode; shape: number }
  | { do: "retry"; pick: number }
  | { do: "crash" }
  /** The next move meets the program somewhere in the middle. */
  | { do: "rest"; ms: number };

/** Directives for the scripted model; the delays are what the moves fall into. */
const SHAPES = [
  "say:ok",
  "delay:8 say:ok",
  'delay:3 tool:list {"path":"."} then: delay:3 say:ok',
  'tool:list {"path":"."} tool:read {"path":"none"} then: delay:5 tool:list {"path":"."} then: say:ok',
];

const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant("send" as const),
      session: fc.nat(1),
      mode: fc.constantFrom<Mode>("steer", "steer", "steer", "followup", "collect", "interrupt"),
      shape: fc.nat(SHAPES.length - 1),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("retry" as const), pick: fc.nat(50) }) },
  { weight: 2, arbitrary: fc.constant({ do: "crash" as const }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("rest" as const), ms: fc.nat(15) }) },
);

interface Sent {
  id: string;
  text: string;
  user: string;
  mode: Mode;
  turn?: string;
  session?: string;
}

let model: Awaited<ReturnType<typeof startModel>>;
let root: string;
beforeAll(async () => {
  model = await startModel();
  root = scratch("property");
});
afterAll(async () => {
  await Promise.allSettled(closing);
  await model?.close();
  rmSync(root, { recursive: true, force: true });
});

/** So many interleavings, however long they take; `LARES_PROPERTY_SECONDS=n` tries as many as there are in that time. */
const RUNS = 20;
const SECONDS = Number(process.env.LARES_PROPERTY_SECONDS ?? 0);

it(
  "every acknowledged message is in one recorded model request or its sender is told; order is kept",
  async () => {
    const seed = SEED;
    let lives = 0;
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(move, { minLength: 4, maxLength: 30 }), async (moves) => {
        runs++;
        lives += await live(moves);
      }),
      {
        seed,
        // A failure is shrunk for as long as the time lasts, then reported.
        ...(SECONDS
          ? { numRuns: 100_000, interruptAfterTimeLimit: SECONDS * 1000, markInterruptAsFailure: false }
          : { numRuns: RUNS, interruptAfterTimeLimit: 100_000, markInterruptAsFailure: true }),
      },
    );
    process.stdout.write(`property: seed ${seed}, ${runs} interleavings, ${lives} lives\n`);
  },
  SECONDS * 1000 + 160_000,
);

let homes = 0;
let worlds = 0;
/** A clean stop gives open connections and turns their time; nobody has to wait for that here. */
const closing: Promise<unknown>[] = [];

/** Plays the moves, lets everything end, and checks. Returns how many lives it took. */
async function live(moves: Move[]): Promise<number> {
  const world = new World();
  try {
    await world.begin();
    for (const one of moves) await world.play(one);
    await world.check();
    return world.lives;
  } finally {
    world.close();
  }
}

class World {
  lives = 0;
  private home = "";
  private app: RunningApp | undefined;
  private readonly sent: Sent[] = [];
  /** Requests of a life that came after its crash belong to nobody. */
  private readonly cutAt = new Map<number, number>();
  private readonly name = `world-${++worlds}`;

  async begin(): Promise<void> {
    const home = join(root, `home-${++homes}`);
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "lares.yaml"), JSON.stringify({ gateway: { http: { wait: 0.05 } } }));
    // The main file last would be wrong, the log last is right: a checkpoint between the two cannot happen, this is one thread.
    for (const file of ["lares.db", "lares.db-wal"]) {
      if (this.home && existsSync(join(this.home, file))) copyFileSync(join(this.home, file), join(home, file));
    }
    this.home = home;
    this.lives++;
    const env = readEnvironment({
      HOME: home,
      PATH: process.env.PATH,
      LARES_TOKEN: TOKEN,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: `${this.name} life-${this.lives}`,
    });
    this.app = await startApp({ env, home, port: 0, version: "property" });
  }

  async play(one: Move): Promise<void> {
    switch (one.do) {
      case "rest":
        await pause(one.ms);
        return;
      case "crash":
        await this.crash();
        return;
      case "retry":
        if (this.sent.length > 0) await this.send(this.sent[one.pick % this.sent.length]!);
        return;
      case "send": {
        const id = `m${this.sent.length}`;
        const text = `#${id} ${SHAPES[one.shape]}`;
        const message: Sent = { id, text, user: `user${one.session}`, mode: one.mode };
        this.sent.push(message);
        await this.send(message);
      }
    }
  }

  /** Sends until it is acknowledged by a life that still counts. */
  private async send(message: Sent): Promise<void> {
    const answer = await this.call("chat.send", {
      user: message.user,
      message: message.text,
      mode: message.mode,
      wait: false,
      idempotencyKey: message.id,
    });
    if (message.turn !== undefined) expect(answer.turn, `the turn of ${message.id}`).toBe(message.turn);
    message.turn = answer.turn;
    message.session = answer.session;
  }

  private async crash(): Promise<void> {
    this.cutAt.set(this.lives, model.requests.length);
    const before = this.app!;
    await this.begin();
    // It goes on for a while in a home that nobody looks at any more.
    closing.push(before.stop());
  }

  private async call(method: "chat.send" | "turns.wait", params: object): Promise<ChatAnswer> {
    const response = await fetch(`${this.app!.url}/rpc/${method}`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify(params),
    });
    const json = (await response.json()) as ChatAnswer;
    if (!response.ok)
      throw new Error(`${method} ${JSON.stringify(params)}: ${response.status} ${JSON.stringify(json)}`);
    return json;
  }

  async check(): Promise<void> {
    const ends = new Map<string, ChatAnswer>();
    for (const { id, turn } of this.sent) {
      const end = await until(`${id} (${turn}) to end`, async () => {
        const now = await this.call("turns.wait", { turn: turn! });
        return ["queued", "running", "parked"].includes(now.state) ? undefined : now;
      });
      ends.set(id, end);
      expect(end.response || end.reason, `PROPERTY-1: ${id} ended as ${end.state} without a word`).toBeTruthy();
      expect(["answered", "stopped"], `PROPERTY-1: ${id} ended as ${end.state}: ${end.reason}`).toContain(end.state);
    }
    for (const { id, user, text } of this.sent) {
      const again = await this.call("chat.send", { user, message: text, idempotencyKey: id });
      const { turn, state, response } = ends.get(id)!;
      expect({ turn: again.turn, state: again.state, response: again.response }).toEqual({ turn, state, response });
    }
    await this.checkRecords(ends);
    this.checkRequests();
  }

  private async checkRecords(ends: Map<string, ChatAnswer>): Promise<void> {
    const db = await openDatabase(join(this.home, "lares.db"), { readOnly: true });
    try {
      const calls = db.prepare("SELECT payload FROM engine_journal WHERE name LIKE 'model:%'").all() as {
        payload: string;
      }[];
      const took = calls.flatMap((row) => (JSON.parse(row.payload) as { took: string[] }).took);
      const history = db
        .prepare("SELECT session, turn, id FROM message WHERE id LIKE '%:in' ORDER BY session, seq")
        .all() as {
        session: string;
        turn: string;
        id: string;
      }[];
      for (const one of this.sent) {
        const times = took.filter((turn) => turn === one.turn).length;
        const end = ends.get(one.id)!;
        if (times === 0) expect(end.state, `PROPERTY-2: ${one.id} is in no recorded request`).toBe("stopped");
        expect(times, `PROPERTY-2: ${one.id} is in ${times} recorded requests`).toBeLessThanOrEqual(1);
        const rows = history.filter((row) => row.id === `${one.turn}:in`);
        expect(rows.length, `PROPERTY-3: ${one.id} is in the history ${rows.length} times`).toBe(1);
      }
      const joined = new Set(
        (db.prepare("SELECT id FROM turn WHERE state = 'joined'").all() as { id: string }[]).map((row) => row.id),
      );
      for (const session of new Set(this.sent.map((one) => one.session))) {
        const order = this.sent.filter((one) => one.session === session);
        const at = (one: Sent) => history.findIndex((row) => row.id === `${one.turn}:in`);
        for (const [i, first] of order.entries()) {
          for (const second of order.slice(i + 1)) {
            if (at(first) < at(second)) continue;
            const mayOvertake = joined.has(second.turn!) && first.mode !== "steer" && first.mode !== second.mode;
            expect(mayOvertake, `PROPERTY-3: ${second.id} (${second.mode}) is before ${first.id} (${first.mode})`).toBe(
              true,
            );
          }
        }
      }
      this.history = history.map((row) => this.sent.find((one) => `${one.turn}:in` === row.id)!.id);
    } finally {
      db.close();
    }
  }

  private history: string[] = [];

  private checkRequests(): void {
    for (const [i, request] of model.requests.entries()) {
      const [name, life] = String(request.headers["x-api-key"]).split(" life-");
      if (name !== this.name || i >= (this.cutAt.get(Number(life)) ?? Number.POSITIVE_INFINITY)) continue;
      const ids = userTexts(request).flatMap((text) => /^#(m\d+)/.exec(text)?.[1] ?? []);
      const places = ids.map((id) => this.history.indexOf(id));
      const sorted = [...new Set(places)].sort((a, b) => a - b);
      expect(places, `PROPERTY-4: a request has ${ids.join(" ")}, the history ${this.history.join(" ")}`).toEqual(
        sorted,
      );
    }
  }

  close(): void {
    if (this.app) closing.push(this.app.stop());
  }
}
