/**
 * Random `kill -9` while 16 clients talk to the real program, with tools, approvals, steering and webhooks. The clients
 * retry; at the end everything is drained and checked (check.ts).
 */
import { setTimeout as pause } from "node:timers/promises";
import { until } from "../support/index.ts";
import { startApprover } from "./approver.ts";
import { check, type Findings, unknownShare } from "./check.ts";
import { type Conversation, persist, runClient } from "./client.ts";
import { random } from "./random.ts";
import { openWorld } from "./world.ts";

export interface KillOptions {
  rounds: number;
  seed: number;
  /** After the last kill the clients go on until so many messages are answered: a run that did nothing proves nothing. */
  leastAnswers?: number;
  /** Called after each round. */
  progress?: (round: number, messages: number) => void;
}

export interface KillReport extends Findings {
  seed: number;
  rounds: number;
  kills: number;
  killsWhileStarting: number;
  sessions: number;
  messages: number;
  allowed: number;
  readyMs: number;
  seconds: number;
}

/** Ten that talk, two whose agent asks, two over each kind of webhook. */
const CLIENTS: Conversation["kind"][] = [
  ...Array<"chat">(10).fill("chat"),
  ...Array<"asker">(2).fill("asker"),
  ...Array<"hook">(2).fill("hook"),
  ...Array<"plain">(2).fill("plain"),
];
/** From ready to the kill. Most lives end in or just after recovery; the others last for some answers, on a busy machine too. */
const SHORT_LIFE_MS = 400;
const LONG_LIFE_ANSWERS = 40;
const LONGEST_LIFE_MS = 3_000;
/** A second kill on the way up: between the first line of code and a little after ready. */
const LONGEST_START_MS = 600;

export async function runKill(options: KillOptions): Promise<KillReport> {
  const begun = performance.now();
  const choose = random(options.seed);
  const world = await openWorld();
  let going = true;
  let failed: unknown;
  try {
    await world.start();
    const approver = startApprover(world, choose.fork(1000));
    const talks: Conversation[][] = [];
    const clients = CLIENTS.map((kind, i) =>
      runClient(
        world,
        kind,
        `${kind}${i}`,
        choose.fork(i),
        () => going && failed === undefined,
        (list) => {
          talks[i] = list;
        },
      ).catch((error: unknown) => {
        failed ??= error;
      }),
    );
    let killsWhileStarting = 0;
    let readyMs = 0;
    for (let round = 1; round <= options.rounds && failed === undefined; round++) {
      if (choose.chance(0.7)) await pause(choose.below(SHORT_LIFE_MS));
      else {
        const enough = answered(talks) + 1 + choose.below(LONG_LIFE_ANSWERS);
        const life = performance.now();
        await until("some answers", () => answered(talks) >= enough || performance.now() > life + LONGEST_LIFE_MS);
      }
      await world.kill();
      const again = choose.chance(0.25) ? choose.below(LONGEST_START_MS) : undefined;
      if (again !== undefined) killsWhileStarting++;
      const at = performance.now();
      await world.start(again);
      readyMs += performance.now() - at - (again ?? 0);
      options.progress?.(
        round,
        talks.flat().reduce((n, talk) => n + talk.sent.length, 0),
      );
    }
    await until("enough answers", () => failed !== undefined || answered(talks) >= (options.leastAnswers ?? 0), {
      withinMs: 60_000,
    });
    going = false;
    await Promise.all(clients);
    if (failed !== undefined) throw failed;
    await until(
      "everything to be drained",
      async () => {
        const { turns, deliveries } = await persist(world, () => world.lares.rpc("status", {}));
        return turns.queued + turns.running + turns.parked + deliveries.waiting === 0;
      },
      { withinMs: 30_000, instead: () => world.lares.rpc("status", {}) },
    );
    const { allowed } = approver;
    await approver.stop();
    const all = talks.flat();
    return {
      ...(await check(world, all)),
      seed: options.seed,
      rounds: options.rounds,
      kills: options.rounds + killsWhileStarting,
      killsWhileStarting,
      sessions: all.length,
      messages: all.reduce((n, talk) => n + talk.sent.length, 0),
      allowed,
      readyMs: Math.round(readyMs / options.rounds),
      seconds: (performance.now() - begun) / 1000,
    };
  } finally {
    going = false;
    await world.dispose();
  }
}

function answered(talks: Conversation[][]): number {
  return talks.flat().reduce((n, talk) => n + talk.sent.filter((sent) => sent.answer).length, 0);
}

export function table(r: KillReport): string {
  const rows: [string, string | number][] = [
    ["seed", r.seed],
    ["rounds (kill -9, restart)", r.rounds],
    ["of these killed again while starting", r.killsWhileStarting],
    ["conversations, 16 at a time", r.sessions],
    ["messages acknowledged", r.messages],
    ["turns", r.turns],
    ["messages that steered another turn", r.joined],
    ["model requests", r.requests],
    ["effects (exec) with a known outcome", r.effects],
    ["of these found again after a kill", r.recovered],
    ["effects with an unknown outcome, all reported", r.unknown],
    ["share of unknown among those cut off (at most 1 %)", `${(100 * unknownShare(r)).toFixed(2)} %`],
    ["approvals allowed / calls denied", `${r.allowed} / ${r.denied}`],
    ["webhook answers shown / honest notes", `${r.delivered} / ${r.notes}`],
    ["kill to ready again, mean", `${r.readyMs} ms`],
    ["duration", `${r.seconds.toFixed(1)} s`],
    ["lost, repeated, out of order, unreported", r.violations.length],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`).join("\n");
}
