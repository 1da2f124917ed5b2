/**
 * Check before done. What a member handed in is judged by what was agreed on when the task was made, and then, where that is wanted, by a
 * critic that didn't do the work. Commands and critics are turns: they pass the gate, can wait for a person and survive a crash.
 *
 * CHECK-1: the acceptance that is checked is the one whose hash was stored with the task.
 * CHECK-2: a check that was cut off is made again, a bounded number of times: it only looks.
 * CHECK-3: a critic's word blocks by severity; words that can't be read count for nothing, and a person is asked.
 * CHECK-4: nothing that the task, its result or its comments say decides whether it passes.
 */
import { z } from "zod";
import type { Records, Tx } from "../../core/contracts/index.ts";
import {
  type Acceptance,
  type AgentId,
  asId,
  assertNever,
  type InboundMessage,
  idempotencyKeys,
  type SessionKey,
  sessionKeys,
  sourceKeys,
  type TaskEvidence,
  type TaskVerdict,
  type TurnId,
  type TurnResult,
} from "../../core/domain/index.ts";
import { type Clock, fitTo } from "../../core/kit/index.ts";
import { type Board, boundAcceptance, waitsForPerson } from "./board.ts";
import type { BoardConfig } from "./config.ts";
import { type AttemptRow, type BoardTask, insertVerdict, setCheck, setReview } from "./store.ts";
import * as words from "./words.ts";

export interface CheckPorts {
  board: Board;
  records: Records;
  clock: Clock;
  config: () => BoardConfig;
  admit: (message: InboundMessage, record: (tx: Tx, turn: TurnId) => void) => Promise<{ turn: TurnId }>;
  result: (turn: TurnId) => Promise<TurnResult | undefined>;
  standing: (turn: TurnId) => Promise<{ open: boolean; parked: boolean } | undefined>;
  /** A file in the agent's workspace; nothing where there is none. */
  file: (agent: string, path: string) => Promise<{ sha256: string; bytes: number } | undefined>;
  /** A message that this turn had delivered, and the platform confirmed. */
  delivered: (turn: TurnId) => Promise<{ delivery: string; to: string } | undefined>;
  /** A model to review with, of another provider than the agent's; where a review is wanted and there is none, the agent's own. */
  critic: (agent: string, isWanted: boolean) => string | undefined;
}

interface Endings {
  finish(task: BoardTask, verdict: Extract<TaskVerdict, { clean: true }>): Promise<void>;
  fail(task: BoardTask, run: AttemptRow, why: string, how?: { record?: (tx: Tx) => void }): Promise<void>;
}

type Checked = { evidence: TaskEvidence } | { failed: string } | "pending" | { asks: string };

const LARES = { who: "lares", name: words.DISPATCHER } as const;
const CHECK = "check";
/** Tries at one check or review that ended without saying anything about the result. */
const MOST_TRIES = 3;
const MOST_OUTPUT = 2000;

const reviewShape = z.object({
  problems: z
    .array(z.object({ severity: z.enum(["blocks", "noted"]), what: z.string().max(2000) }))
    .max(50)
    .default([]),
  summary: z.string().max(2000).default(""),
});

export class Checks {
  readonly #parts: CheckPorts;
  readonly #end: Endings;

  constructor(parts: CheckPorts, end: Endings) {
    this.#parts = parts;
    this.#end = end;
  }

  /** Does the next thing for a task that is being checked. */
  async advance(task: BoardTask, run: AttemptRow): Promise<void> {
    const proof = boundAcceptance(task);
    const found = await this.#check(task, run, proof);
    if (found === "pending") return;
    if ("asks" in found) return void (await this.#ask(task, found.asks));
    if ("failed" in found) {
      const verdict = { clean: false, by: CHECK, why: found.failed } as const;
      const at = this.#parts.clock.now();
      return this.#end.fail(task, run, found.failed, { record: (tx) => insertVerdict(tx, task, verdict, at) });
    }
    const review = await this.#review(task, run, proof);
    if (review === "pending") return;
    if (review !== undefined && "asks" in review) return void (await this.#ask(task, review.asks));
    if (review !== undefined && "failed" in review) {
      const verdict = { clean: false, by: "critic", why: review.failed } as const;
      const at = this.#parts.clock.now();
      return this.#end.fail(task, run, review.failed, { record: (tx) => insertVerdict(tx, task, verdict, at) });
    }
    await this.#end.finish(task, {
      clean: true,
      by: review ? "critic" : CHECK,
      why: words.checkPassed(words.describeProof(proof)),
      evidence: [found.evidence, ...(review ? [review.evidence] : [])],
    });
  }

  async #check(task: BoardTask, run: AttemptRow, proof: Acceptance): Promise<Checked> {
    const result = run.result ?? "";
    switch (proof.kind) {
      case "word":
        return { asks: words.SAY_IT };
      case "schema": {
        const fits = fitTo(proof.schema, result);
        return fits.ok ? { evidence: { kind: "schema", value: fits.value } } : { failed: words.doesNotFit(fits.why) };
      }
      case "file": {
        const file = run.agent === null ? undefined : await this.#parts.file(run.agent, proof.path);
        if (!file) return { failed: words.noFile(proof.path) };
        if (proof.sha256 !== undefined && proof.sha256 !== file.sha256) return { failed: words.otherFile(proof.path) };
        return { evidence: { kind: "file", path: proof.path, ...file } };
      }
      case "message": {
        const sent = run.turn === null ? undefined : await this.#parts.delivered(run.turn);
        return sent ? { evidence: { kind: "message", ...sent } } : { failed: words.NO_MESSAGE };
      }
      case "command":
        return this.#command(task, run, proof);
      default:
        return assertNever(proof);
    }
  }

  async #command(task: BoardTask, run: AttemptRow, proof: Extract<Acceptance, { kind: "command" }>): Promise<Checked> {
    if (run.check_turn === null) return this.#begin(task, run, proof);
    const result = await this.#parts.result(run.check_turn);
    if (!result) return "pending";
    if (result.state === "answered" || result.state === "silent") {
      const output = result.text.slice(-MOST_OUTPUT);
      return { evidence: { kind: "command", command: proof.command, turn: run.check_turn, output } };
    }
    const why = result.reason ?? result.text;
    if (result.failure === "script" || result.failure === "timeout") return { failed: words.checkFailed(why) };
    if (result.failure === "not-allowed" || result.state === "declined") {
      return { asks: `${words.CHECK_NOT_ALLOWED} ${why}` };
    }
    // Cut off by a crash or stopped: a check only looks, so it is made again (CHECK-2).
    return run.checks < MOST_TRIES ? this.#begin(task, run, proof) : { asks: words.checkFailed(why) };
  }

  async #begin(task: BoardTask, run: AttemptRow, proof: Extract<Acceptance, { kind: "command" }>): Promise<"pending"> {
    const minutes = proof.minutes ?? this.#parts.config().checkMinutes;
    await this.#admit(task, {
      agent: run.agent ?? run.member,
      session: sessionKeys.taskCheck(task.id, task.attempt),
      key: idempotencyKeys.taskCheck(task.id, task.attempt, run.checks),
      label: words.checkLabel(task.number),
      text: proof.command,
      terms: { script: proof.command, timeoutMs: minutes * 60_000, keeps: "all" },
      record: (tx, turn) => setCheck(tx, run, turn),
    });
    return "pending";
  }

  async #review(task: BoardTask, run: AttemptRow, proof: Acceptance): Promise<Checked | undefined> {
    if (task.review === 0 && task.made_kind !== "agent") return undefined;
    const agent = run.agent ?? run.member;
    const model = this.#parts.critic(agent, task.review === 1);
    // A task whose maker asked for a review isn't done without one; for the others a check is enough where nobody can review.
    if (model === undefined) return task.review === 1 ? { asks: words.NO_CRITIC } : undefined;
    const result = run.review_turn === null ? undefined : await this.#parts.result(run.review_turn);
    if (run.review_turn !== null && !result) return "pending";
    const said = result && readReview(result);
    if (said === undefined) {
      if (run.reviews >= MOST_TRIES) return { asks: words.REVIEW_UNREADABLE };
      await this.#admit(task, {
        agent,
        model,
        session: sessionKeys.taskReview(task.id, task.attempt),
        key: idempotencyKeys.taskReview(task.id, task.attempt, run.reviews),
        label: words.reviewLabel(task.number),
        text: words.reviewText({
          number: task.number,
          title: task.title,
          description: task.description,
          proof: words.describeProof(proof),
          result: run.result ?? "",
          folder: undefined,
        }),
        tools: LOOKING_TOOLS,
        record: (tx, turn) => setReview(tx, run, turn),
      });
      return "pending";
    }
    const blocking = said.problems.filter(({ severity }) => severity === "blocks");
    if (blocking.length > 0) return { failed: blocking.map(({ what }) => what).join(" ") };
    return { evidence: { kind: "review", by: model, turn: run.review_turn!, said: said.summary } };
  }

  async #admit(
    task: BoardTask,
    m: Pick<InboundMessage, "text" | "terms" | "tools" | "model"> & {
      agent: string;
      session: SessionKey;
      key: string;
      label: string;
      record: (tx: Tx, turn: TurnId) => void;
    },
  ): Promise<void> {
    const { agent, key, label, record, ...message } = m;
    await this.#parts.admit(
      {
        ...message,
        route: { channel: "none", account: words.DISPATCHER, chat: task.id },
        sender: { id: sourceKeys.task(task.id) },
        idempotencyKey: key,
        about: { label: { kind: "board", text: label, of: task.id } },
        agent: asId<AgentId>(agent),
        lane: "background",
        mode: "followup",
        origin: "event",
        authority: task.authority,
        ...(task.outside ? { outside: true } : {}),
      },
      record,
    );
  }

  /** A person has to say whether it is done. */
  async #ask(task: BoardTask, about: string): Promise<void> {
    if (task.state === "waiting") return;
    const clockAt = this.#parts.clock.now() + this.#parts.config().escalateMinutes * 60_000;
    await this.#parts.board.move(task.id, "park", LARES, null, { waitsFor: waitsForPerson(task, about), clockAt });
  }
}

/** A critic looks and touches nothing. */
const LOOKING_TOOLS = ["read", "list", "search"] as const;

function readReview(result: TurnResult): z.output<typeof reviewShape> | undefined {
  if (result.state !== "answered") return undefined;
  const [from, to] = [result.text.indexOf("{"), result.text.lastIndexOf("}")];
  if (from < 0 || to < from) return undefined;
  try {
    return reviewShape.parse(JSON.parse(result.text.slice(from, to + 1)));
  } catch {
    return undefined;
  }
}
