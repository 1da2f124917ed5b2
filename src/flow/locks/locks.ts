/**
 * Resource locks: work on the same repository or path is done one call at a time, whichever agent does it.
 *
 * LOCKS-1: two calls of different turns whose paths overlap never run at the same time. The first to ask is the first to have.
 *     Calls of one turn, which the model made together, do not wait for each other.
 * LOCKS-2: a call gets all its paths at once or none, so nobody waits while holding: there is no deadlock.
 * LOCKS-3: a lock has a row with a fencing number that only grows, durable before anything is touched; a call that only waits has none,
 *     so nothing is left of one that died waiting. A result is recorded in one transaction with the proof that the row is still
 *     there; who lost the lock cannot record (I11).
 * LOCKS-4: a row of an earlier epoch is work a crash cut off. It stays in force until its turn has dealt with it, because a command of
 *     the dead process may still run; the next call on that path gets a warning.
 */
import type { ActionPlan, Records, Tx } from "../../core/contracts/index.ts";
import { AppError } from "../../core/domain/index.ts";
import type { Clock, Log } from "../../core/kit/index.ts";
import { readEpoch } from "../../ground/records/index.ts";
import type { LocksConfig } from "./config.ts";
import { findResources, overlap } from "./resource.ts";
import { deleteLocks, type Holder, insertLocks, type LockRow, mustHold, readLocks } from "./store.ts";

export interface LocksParts {
  records: Records;
  clock: Clock;
  config: () => LocksConfig;
  log: Log;
  /** Those of the named turns that haven't ended. */
  openAmong: (turns: readonly string[]) => Promise<ReadonlySet<string>>;
}

/** A held lock. `release` ends it, with or without a `commit` before. */
export interface LockHold {
  readonly fence: number;
  readonly paths: readonly string[];
  /** What the one who works here should know first: earlier work was cut off. */
  readonly leftover: string | undefined;
  /** False when it was taken away: what was done meanwhile may be mixed with another's. */
  isHeld(): boolean;
  /** Writes the row, together with the intent of the work: after a crash it says what may be half done. */
  intend(tx: Tx): void;
  /** In the transaction that records the result: refuses it when the lock was lost (LOCKS-3). */
  commit(tx: Tx): void;
  /** Lets the next one continue. Idempotent. */
  release(): void;
}

export interface LockView extends Holder {
  paths: readonly string[];
  fence: number;
  since: number;
  /** True: held by a turn that a crash cut off and that has not yet gone on. */
  cutOff: boolean;
  waiting: (Holder & { since: number })[];
}

interface Grant {
  holder: Holder;
  paths: readonly string[];
  fence: number;
  since: number;
  cutOff: boolean;
}

interface LockRequest {
  holder: Holder;
  paths: readonly string[];
  since: number;
  /** Called once, when everything it asks for is free. */
  grant(): void;
}

export class Locks {
  private readonly parts: LocksParts;
  private readonly epoch: number;
  private fence: number;
  private readonly held = new Set<Grant>();
  private readonly queue = new Set<LockRequest>();
  /** Paths whose last work was interrupted, until the next call has been warned. */
  private readonly leftovers = new Map<string, Holder & { since: number }>();

  private constructor(parts: LocksParts, epoch: number, fence: number) {
    this.parts = parts;
    this.epoch = epoch;
    this.fence = fence;
  }

  /** Opens with what an earlier process still held. Call it before turns go on. */
  static async open(parts: LocksParts): Promise<Locks> {
    const epoch = await readEpoch(parts.records);
    const { last, left } = await readLocks(parts.records, epoch);
    const open = left.length ? await parts.openAmong(left.map(({ turn }) => turn)) : new Set<string>();
    const locks = new Locks(parts, epoch, last);
    for (const row of left) locks.inherit(row, open.has(row.turn));
    return locks;
  }

  /**
   * Waits until everything this plan changes is free, and holds it. Undefined: it changes no files. `busy`: not free in
   * time, with a sentence that says who has it. `onWait` is called when there is something to wait for. Nothing may be touched
   * before what `intend` wrote is durable.
   */
  async take(
    request: { holder: Holder; plan: ActionPlan; workspace: string; onWait?: (sentence: string) => void },
    signal: AbortSignal,
  ): Promise<LockHold | { busy: string } | undefined> {
    const { clock } = this.parts;
    const { holder } = request;
    const paths = await findResources(request.plan, request.workspace);
    signal.throwIfAborted();
    if (!paths.length) return undefined;
    // The same call again after a crash: it is the one that deals with what it left.
    this.settled(holder.turn, holder.call, "repeated");
    const since = clock.now();
    const grant = await this.wait({ holder, paths, since }, request.onWait, signal);
    if (!grant) return { busy: this.busy(paths, since) };
    return this.hold(grant, this.told(paths, holder.turn));
  }

  /** Does the work while it holds what the plan changes. Throws CONFLICT when that is not free in time. */
  async alone<T>(request: { holder: Holder; plan: ActionPlan; workspace: string }, work: () => Promise<T>): Promise<T> {
    const held = await this.take(request, new AbortController().signal);
    if (held && "busy" in held) throw new AppError("CONFLICT", { message: held.busy, retry: "later" });
    try {
      return await work();
    } finally {
      held?.release();
    }
  }

  /** The same for a name in the home that stands for something else, such as a repository. */
  aloneAs<T>(name: string, holder: Holder, work: () => Promise<T>): Promise<T> {
    const plan = { tool: holder.tool, risk: "write" as const, targets: [name], shown: name, binding: {} };
    return this.alone({ holder, plan, workspace: name }, work);
  }

  /**
   * A call of a turn has its outcome, or the turn ended: what an earlier process held for it is free. `known`: the far side
   * could say what happened, so nobody needs to be warned.
   */
  settled(turn: string, call?: string, how: "known" | "unknown" | "repeated" = "unknown"): void {
    for (const grant of [...this.held]) {
      if (!grant.cutOff || grant.holder.turn !== turn || (call !== undefined && grant.holder.call !== call)) continue;
      if (how === "unknown") {
        for (const path of grant.paths) this.leftovers.set(path, { ...grant.holder, since: grant.since });
      }
      this.dropRows(grant);
      this.free(grant);
    }
  }

  /** Takes a lock away from its holder, whose result will not be recorded as done. False if nobody has it. */
  break(path: string): boolean {
    const grants = [...this.held].filter((one) => one.paths.includes(path));
    for (const grant of grants) {
      this.parts.log.warn("a lock was taken away", { path, turn: grant.holder.turn, fence: grant.fence });
      this.dropRows(grant);
      this.free(grant);
    }
    return grants.length > 0;
  }

  /** Who has what, since when, and who waits for it. */
  list(): LockView[] {
    return [...this.held].map((grant) => ({
      ...grant.holder,
      ...pick(grant),
      paths: grant.paths,
      cutOff: grant.cutOff,
      waiting: [...this.queue]
        .filter((request) => overlap(request.paths, grant.paths))
        .map((request) => ({ ...request.holder, since: request.since })),
    }));
  }

  private hold(grant: Grant, leftover: string | undefined): LockHold {
    let committed = false;
    let released = false;
    return {
      fence: grant.fence,
      paths: grant.paths,
      leftover,
      isHeld: () => this.held.has(grant),
      intend: (tx) => {
        if (this.held.has(grant)) insertLocks(tx, grant.paths, { ...grant.holder, ...pick(grant), epoch: this.epoch });
      },
      commit: (tx) => {
        mustHold(tx, grant.paths, grant.fence);
        deleteLocks(tx, grant.paths, grant.fence);
        committed = true;
      },
      release: () => {
        if (released) return;
        released = true;
        if (!committed) this.dropRows(grant);
        this.free(grant);
      },
    };
  }

  /** The lock when it is its turn; nothing when the deadline came first. */
  private wait(
    request: Omit<LockRequest, "grant">,
    onWait: ((sentence: string) => void) | undefined,
    signal: AbortSignal,
  ): Promise<Grant | undefined> {
    if (this.blockers(request).length === 0) return Promise.resolve(this.grant(request));
    onWait?.(`Waiting: ${this.describe(request.paths)}`);
    return new Promise((resolve, reject) => {
      const done = (end: () => void) => {
        this.queue.delete(entry);
        stopTimer();
        signal.removeEventListener("abort", stop);
        end();
        // Those behind it may have waited for nothing but this one.
        this.pump();
      };
      const stop = () => done(() => reject(signal.reason));
      const entry: LockRequest = { ...request, grant: () => done(() => resolve(this.grant(request))) };
      const stopTimer = this.parts.clock.after(this.parts.config().waitSeconds * 1000, () =>
        done(() => resolve(undefined)),
      );
      signal.addEventListener("abort", stop, { once: true });
      this.queue.add(entry);
    });
  }

  /** In the same breath as the look at who else has it: nobody can come in between (LOCKS-1). */
  private grant({ holder, paths }: Omit<LockRequest, "grant">): Grant {
    const grant: Grant = { holder, paths, fence: ++this.fence, since: this.parts.clock.now(), cutOff: false };
    this.held.add(grant);
    return grant;
  }

  /** Everybody who comes before this request: who holds, and who asked earlier. */
  private blockers(request: Omit<LockRequest, "grant">): (Grant | LockRequest)[] {
    const inTheWay = (other: Grant | LockRequest) =>
      other.holder.turn !== request.holder.turn && overlap(request.paths, other.paths) !== undefined;
    const before: (Grant | LockRequest)[] = [...this.held];
    // Where its turn works already it need not queue: those who wait there wait for the turn, which may wait for this call.
    const joins = before.some((other) => !inTheWay(other) && overlap(request.paths, other.paths) !== undefined);
    for (const other of joins ? [] : this.queue) {
      if (other === request) break;
      before.push(other);
    }
    return before.filter(inTheWay);
  }

  private pump(): void {
    for (const request of this.queue) {
      if (this.blockers(request).length > 0) continue;
      request.grant();
      return;
    }
  }

  private free(grant: Grant): void {
    if (this.held.delete(grant)) this.pump();
  }

  /** Not awaited: a row that a crash leaves behind is seen at the next start. */
  private dropRows(grant: Grant): void {
    this.parts.records.write((tx) => deleteLocks(tx, grant.paths, grant.fence)).catch(() => {});
  }

  private inherit(row: LockRow, isOpen: boolean): void {
    const { turn, call, agent, tool, path, fence, since } = row;
    this.parts.log.warn("work was cut off while it held a lock", { path, turn, tool, since });
    this.held.add({ holder: { turn, call, agent, tool }, paths: [path], fence, since, cutOff: true });
    if (!isOpen) this.settled(turn, call);
  }

  /** The sentence about earlier work on these paths, once, and not to the turn that did it: it knows. */
  private told(paths: readonly string[], turn: string): string | undefined {
    let sentence: string | undefined;
    for (const [path, left] of this.leftovers) {
      if (!overlap(paths, [path])) continue;
      this.leftovers.delete(path);
      if (left.turn === turn) continue;
      sentence = `Earlier work here (${left.tool} of agent ${left.agent} in ${path}, started ${time(left.since)}) was interrupted by a restart and may be half done. Check before you rely on it.`;
    }
    return sentence;
  }

  private busy(paths: readonly string[], since: number): string {
    const waited = Math.round((this.parts.clock.now() - since) / 1000);
    return `Busy: ${this.describe(paths)} Waited ${waited} s; nothing was done. Try again later, or do something else first.`;
  }

  private describe(paths: readonly string[]): string {
    const grant = [...this.held].find((one) => overlap(paths, one.paths));
    const first = [...this.queue].find((one) => overlap(paths, one.paths));
    if (!grant) return `${paths[0]} is ${first ? `wanted by agent ${first.holder.agent} first` : "in use"}.`;
    const { agent, tool, turn } = grant.holder;
    const state = grant.cutOff ? ", interrupted by a restart and not yet checked" : "";
    return `${overlap(paths, grant.paths)} is in use by agent ${agent} (${tool}, turn ${turn}) since ${time(grant.since)}${state}.`;
  }
}

function pick({ fence, since }: Grant): { fence: number; since: number } {
  return { fence, since };
}

function time(at: number): string {
  return new Date(at).toISOString().slice(0, 19).replace("T", " ");
}
