/**
 * The nightly pass of an agent: conversations and notes of the last days → facts → MEMORY.md. What it changed is stored as a row
 * with the file before and after, and can be undone in one step.
 *
 * MEMORY-12: the change of the facts and the row that tells of it are one transaction under the slot's id: a pass that was killed runs
 *     again and changes things once.
 * MEMORY-13: undo brings back what was merged and takes out what was added, in one transaction; the file follows.
 */
import type { Records, Tx } from "../../../core/contracts/index.ts";
import { AppError, factSources, memoryPasses, sessionKeys } from "../../../core/domain/index.ts";
import type { Clock, Crash, Log } from "../../../core/kit/index.ts";
import type { Asking, Capture } from "../capture/capture.ts";
import type { MemoryConfig } from "../config.ts";
import { agentScope, SHARED } from "../kinds.ts";
import type { Memory } from "../memory.ts";
import { type ShownFact, shownFacts } from "../view/store.ts";
import type { MemoryView } from "../view/view.ts";
import { CONDENSE_PROMPT, type CondensePlan, condenseQuestion, planByRules, readPlan } from "./plan.ts";
import {
  type Condensation,
  type CondensedFacts,
  dropRuns,
  insertRun,
  listRuns,
  markUndone,
  pruneRuns,
  readRun,
  runsQuoting,
  setAfter,
} from "./store.ts";

export interface CondenseParts {
  memory: Memory;
  view: MemoryView;
  capture: Capture;
  records: Records;
  clock: Clock;
  crash: Crash;
  log: Log;
  config: () => MemoryConfig["condense"];
  asking: Asking;
}

const MOST_FACTS = 600;
const MOST_OUTPUT = 4000;
/** Without an earlier run, notes from this many days are read. */
const FIRST_MS = 7 * 86_400_000;
/** Runs that are kept to be looked at and undone. */
const KEPT_RUNS = 30;
const PATIENCE_MS = 120_000;

export class Condense {
  private readonly parts: CondenseParts;

  constructor(parts: CondenseParts) {
    this.parts = parts;
  }

  /** One pass. The same id again is the same pass. Undefined: there was nothing to do. */
  async run(agent: string, id: string): Promise<Condensation | undefined> {
    const { memory, view, records, clock, crash } = this.parts;
    const done = await readRun(records, id);
    if (done) return this.finish(done);
    const now = clock.now();
    const last = (await listRuns(records, agent, 1))[0]?.at ?? now - FIRST_MS;
    await this.parts.capture.flushAll(last);
    await view.sync(agent);
    const facts = await shownFacts(records, [SHARED, agentScope(agent)], MOST_FACTS);
    const notes = await view.notesSince(agent, last);
    const found = await this.plan(agent, id, facts, notes);
    if (!found) return undefined;
    crash.at("condense.asked");
    const { plan, model, record } = found;
    if (plan.merge.length + plan.add.length + plan.order.length === 0) {
      if (record) await records.write(record);
      return undefined;
    }
    const byId = new Map(facts.map((fact) => [fact.id, fact]));
    const made: CondensedFacts["made"] = [
      ...plan.merge.map(({ ids, text }, n) => ({
        id: `mem_con${hash(id)}m${n}`,
        text,
        from: ids.map((one) => ({ id: one, text: byId.get(one)!.text })),
      })),
      ...plan.add.map(({ text }, n) => ({ id: `mem_con${hash(id)}a${n}`, text, from: [] })),
    ];
    const before = await view.memoryText(agent);
    const changes: CondensedFacts = { made, order: plan.order };
    await memory.rewrite(
      made.map(({ id: fact, text, from }, n) => {
        const old = from[0] && byId.get(from[0].id);
        return {
          id: fact,
          text,
          kind: old?.kind ?? plan.add[n - plan.merge.length]?.kind ?? "fact",
          scope: chooseScope(
            from.map((one) => byId.get(one.id)!),
            agent,
          ),
          agent,
          source: factSources.condensed(id),
          trust: "agent" as const,
          supersedes: from.map((one) => one.id),
        };
      }),
      (tx) => {
        record?.(tx);
        insertRun(tx, { id, agent, at: now, model, before, changes });
        pruneRuns(tx, agent, KEPT_RUNS);
      },
    );
    crash.at("condense.applied");
    return this.finish((await readRun(records, id))!);
  }

  list(agent: string | undefined, limit: number): Promise<Condensation[]> {
    return listRuns(this.parts.records, agent, limit);
  }

  /** Only the newest run of an agent that was not undone: an older one has other changes on top of it. */
  async undo(id: string): Promise<Condensation> {
    const { records, memory, view, clock } = this.parts;
    const run = await readRun(records, id);
    if (!run) throw new AppError("NOT_FOUND", { message: `There is no condensation "${id}".` });
    if (run.undoneAt !== undefined) return run;
    const newest = (await listRuns(records, run.agent, KEPT_RUNS)).find((one) => one.undoneAt === undefined);
    if (newest?.id !== id)
      throw new AppError("CONFLICT", {
        message: "A later condensation depends on this one.",
        hint: "Undo the newest first: lares memory condense --undo",
      });
    const back = run.changes.made.flatMap((one) => one.from.map((old) => old.id));
    await memory.swap(
      run.changes.made.map((one) => one.id),
      back,
      (tx) => markUndone(tx, id, clock.now()),
    );
    await view.sync(run.agent);
    return (await readRun(records, id))!;
  }

  /** The order of the newest run that holds. */
  async order(agent: string): Promise<readonly string[]> {
    const run = (await listRuns(this.parts.records, agent, 5)).find((one) => one.undoneAt === undefined);
    return run ? [...run.changes.order, ...run.changes.made.map((one) => one.id)] : [];
  }

  /** Runs that quote a forgotten text go with it. */
  async forgotten(texts: readonly string[]): Promise<void> {
    const ids = new Set<string>();
    for (const text of texts) for (const id of await runsQuoting(this.parts.records, text)) ids.add(id);
    if (ids.size > 0) await this.parts.records.write((tx) => dropRuns(tx, [...ids]));
  }

  private async finish(run: Condensation): Promise<Condensation> {
    const { records, view } = this.parts;
    if (run.undoneAt !== undefined) return run;
    await view.sync(run.agent);
    const after = await view.memoryText(run.agent);
    await records.write((tx) => setAfter(tx, run.id, after));
    return { ...run, after };
  }

  private async plan(
    agent: string,
    id: string,
    facts: readonly ShownFact[],
    notes: readonly { file: string; text: string }[],
  ): Promise<{ plan: CondensePlan; model?: string; record?: (tx: Tx) => void } | undefined> {
    const { asking, log } = this.parts;
    const config = this.parts.config();
    if (config.use === "off" || facts.length + notes.length === 0) return undefined;
    const model = config.use === "rules" ? undefined : asking.model(agent, config.model);
    if (model === undefined) return config.use === "model" ? undefined : { plan: planByRules(facts) };
    const asked = await asking.ask({
      purpose: memoryPasses.condense(id),
      session: sessionKeys.night(agent),
      agent,
      request: {
        model,
        system: CONDENSE_PROMPT,
        tools: [],
        messages: [{ role: "user", content: [{ type: "text", text: condenseQuestion(facts, notes) }] }],
        maxOutputTokens: MOST_OUTPUT,
        cacheKey: "memory-condense",
      },
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    if ("refused" in asked) {
      log.info("memory is condensed by rules: no budget left", { agent, reason: asked.refused });
      return { plan: planByRules(facts) };
    }
    const { reply, record } = asked;
    const answer = reply.ok ? reply.content.map((part) => (part.type === "text" ? part.text : "")).join("") : "";
    const plan = readPlan(answer, facts);
    if (plan) return { plan, model: reply.ok ? reply.model : model, record };
    log.warn("a model's condensation couldn't be read; using rules instead", { agent });
    return { plan: planByRules(facts), record };
  }
}

/** A merged fact is seen by no more than its parts were. */
function chooseScope(parts: readonly ShownFact[], agent: string): string {
  return parts.length > 0 && parts.every((part) => part.scope === SHARED) ? SHARED : agentScope(agent);
}

function hash(id: string): string {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(id)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value.toString(36);
}
