/**
 * Watchers: they check something regularly and wake an agent when something is new.
 *
 * WATCH-1: the cursor is written in the transaction that stores the events for what was new, so a kill neither loses nor repeats
 * anything.
 * WATCH-2: the first check, and the first after the watch's target changed, only records what exists.
 * WATCH-3: a failed check changes nothing. It is retried with growing delays, and the reason is shown.
 * WATCH-4: one timer for all; nothing is checked more often than configured. The next check is computed from the stored last one,
 * so a restart neither skips nor hurries it.
 */
import { createHash } from "node:crypto";
import type { Records, Tx } from "../../core/contracts/index.ts";
import {
  type AgentId,
  asId,
  eventKeys,
  type Json,
  type ReplyRoute,
  type SessionKey,
  sessionKeys,
  workKeys,
} from "../../core/domain/index.ts";
import {
  type Apart,
  Branches,
  type Clock,
  type Crash,
  deadline,
  type Guard,
  type Log,
  untilAborted,
  type WorkKey,
} from "../../core/kit/index.ts";
import { dropWatches, listWatches, readWatch, saveFailure, saveLook, type WatchRow } from "./store.ts";

/** What every kind of watch has. */
export interface Watch {
  kind: string;
  everySeconds: number;
  agent?: string | undefined;
  session: string;
  prompt?: string | undefined;
  deliver?: ReplyRoute | undefined;
}

/** Something new, as reported to the rest of Lares. */
export interface Spotted {
  key: string;
  watch: string;
  session: SessionKey;
  agent: AgentId;
  route: ReplyRoute;
  label: string;
  body: string;
  note?: string;
}

export interface WatchParts<W extends Watch> {
  records: Records;
  clock: Clock;
  crash: Crash;
  /** Looking is guarded: a watch whose looks stopped Lares twice is paused. */
  guard: Guard;
  log: Log;
  config: () => Readonly<Record<string, W>>;
  defaultAgent: () => string;
  /** Describes a watch's target: a different target under the same name starts over. */
  describeWatched: (watch: W) => string;
  look: (
    watch: W,
    cursor: Json | null,
    signal: AbortSignal,
  ) => Promise<{ items: { id: string; label: string; body: string }[]; cursor: Json }>;
  /** Durable when it resolves; `record` is written with it, also when there is nothing to tell. */
  tell: (spotted: readonly Spotted[], record: (tx: Tx) => void) => Promise<unknown>;
}

export interface WatchView {
  name: string;
  kind: string;
  about: string;
  agent: string;
  next: number;
  lastAt?: number;
  error?: string;
  /** Looking stopped Lares twice: not looked at again until `resume`, or until it is about something else. */
  isPaused?: boolean;
}

/** A clock that jumps, or a laptop that slept, is noticed within this. */
const LONGEST_NAP_MS = 60_000;
const LONGEST_LOOK_MS = 60_000;
/** After failures the next look is put off, up to this. */
const MOST_BACKOFF_MS = 3_600_000;
/** Failures in a row after which the log says so, once. */
const WORTH_SAYING = 3;

function paused(name: string): string {
  return `Paused: it stopped Lares twice. To resume: lares watch resume ${name}`;
}

export class Watchers<W extends Watch> {
  private readonly parts: WatchParts<W>;
  private readonly busy = new Map<string, Promise<void>>();
  private readonly stopping = new AbortController();
  private cancel: (() => void) | undefined;

  constructor(parts: WatchParts<W>) {
    this.parts = parts;
  }

  /** Also when the settings changed: what is no longer watched is forgotten. */
  async start(): Promise<void> {
    const names = Object.keys(this.parts.config());
    const known = await listWatches(this.parts.records);
    const gone = known.filter((row) => !names.includes(row.name)).map((row) => row.name);
    if (gone.length) await this.parts.records.write((tx) => dropWatches(tx, gone));
    await this.tick();
  }

  async stop(): Promise<void> {
    this.stopping.abort(new Error("Lares is stopping."));
    this.cancel?.();
    await Promise.all(this.busy.values());
  }

  async list(): Promise<WatchView[]> {
    const rows = new Map((await listWatches(this.parts.records.committed)).map((row) => [row.name, row]));
    return Object.entries(this.parts.config()).map(([name, watch]) => {
      const row = rows.get(name);
      const { kind, agent = this.parts.defaultAgent() } = watch;
      const about = this.parts.describeWatched(watch);
      return {
        name,
        kind,
        about,
        agent,
        next: this.dueAt(watch, row),
        ...(row?.looked_at === null || row === undefined ? {} : { lastAt: row.looked_at }),
        ...(row?.error ? { error: row.error } : {}),
        ...(this.isPaused(name, watch) ? { isPaused: true, error: paused(name) } : {}),
      };
    });
  }

  /** Looks again at what was paused. False: there is no such watch. */
  async resume(name: string): Promise<boolean> {
    const watch = this.parts.config()[name];
    if (!watch) return false;
    this.parts.guard.forgive(this.makeKey(name, watch));
    await this.tick();
    return true;
  }

  private makeKey(name: string, watch: W): WorkKey {
    return workKeys.watch(name, short(this.parts.describeWatched(watch)));
  }

  private isPaused(name: string, watch: W): boolean {
    return this.parts.guard.suspicion(this.makeKey(name, watch)) === "convicted";
  }

  /** Looks at what is due and sets the timer for what is next. */
  private async tick(): Promise<void> {
    this.cancel?.();
    if (this.stopping.signal.aborted) return;
    const { clock, config } = this.parts;
    let next = Number.POSITIVE_INFINITY;
    for (const [name, watch] of Object.entries(config())) {
      if (this.busy.has(name) || this.isPaused(name, watch)) continue;
      const due = this.dueAt(watch, await readWatch(this.parts.records, name));
      if (due <= clock.now()) this.begin(name, watch);
      else next = Math.min(next, due);
    }
    this.cancel?.();
    if (next === Number.POSITIVE_INFINITY || this.stopping.signal.aborted) return;
    const nap = Math.min(Math.max(next - clock.now(), 0), LONGEST_NAP_MS);
    this.cancel = clock.after(nap, () => void this.tick().catch(() => {}));
  }

  private begin(name: string, watch: W): void {
    const work = this.underGuard(name, watch)
      .catch((error: unknown) => {
        if (!this.stopping.signal.aborted)
          this.parts.log.warn("a watch couldn't be saved", { watch: name, error: String(error) });
      })
      .finally(() => {
        this.busy.delete(name);
        void this.tick().catch(() => {});
      });
    this.busy.set(name, work);
  }

  private async underGuard(name: string, watch: W): Promise<void> {
    const key = this.makeKey(name, watch);
    if (this.parts.guard.suspicion(key) === "suspect") {
      const { signal } = this.stopping;
      await Promise.race([this.parts.guard.turn(key), untilAborted(signal)]);
      if (signal.aborted) return;
    }
    const work = this.parts.guard.begin(key);
    try {
      await this.once(name, watch, new Branches(work.doing).apart);
    } finally {
      work.end(!this.stopping.signal.aborted);
    }
  }

  private async once(name: string, watch: W, apart: Apart): Promise<void> {
    const { records, clock, crash, log } = this.parts;
    const row = await readWatch(records, name);
    const about = this.parts.describeWatched(watch);
    crash.at("watch.looking", () => about);
    const cursor = row?.about === about && row.cursor !== null ? (JSON.parse(row.cursor) as Json) : null;
    const limit = deadline(this.stopping.signal, LONGEST_LOOK_MS);
    let seen: Awaited<ReturnType<WatchParts<W>["look"]>>;
    try {
      seen = await apart("asks", () => this.parts.look(watch, cursor, limit.signal));
    } catch (error) {
      if (this.stopping.signal.aborted) return;
      const failures = (row?.failures ?? 0) + 1;
      const said = error instanceof Error ? error.message : String(error);
      if (failures === WORTH_SAYING) log.warn("a watch keeps failing", { watch: name, error: said });
      await records.write((tx) => saveFailure(tx, { name, about, failures, error: said, at: clock.now() }));
      return;
    } finally {
      limit.done();
    }
    if (seen.items.length) crash.at("watch.looked");
    const agent = asId<AgentId>(watch.agent ?? this.parts.defaultAgent());
    const spotted = seen.items.map((item): Spotted => {
      const key = eventKeys.watch(name, short(about), short(item.id));
      return {
        key,
        watch: name,
        agent,
        label: `${item.label} (${name})`,
        body: item.body,
        session: chooseSession(watch, agent, sessionKeys.watch(name, short(seen.items[0]!.id))),
        route: watch.deliver ?? { channel: "none", account: "watch", chat: name },
      };
    });
    // The owner's words once, behind the last.
    const last = spotted.at(-1);
    if (last && watch.prompt) last.note = watch.prompt;
    const next = { name, about, cursor: JSON.stringify(seen.cursor), at: clock.now() };
    await this.parts.tell(spotted, (tx) => saveLook(tx, next));
  }

  private dueAt(watch: W, row: WatchRow | undefined): number {
    if (!row || row.looked_at === null || row.about !== this.parts.describeWatched(watch)) return 0;
    const every = watch.everySeconds * 1000;
    const wait = row.failures ? Math.max(every, Math.min(every * 2 ** row.failures, MOST_BACKOFF_MS)) : every;
    const due = row.looked_at + wait;
    // The last check lies in the future when the clock was set back since. Waiting for the clock to catch up could take days.
    return due - this.parts.clock.now() > 2 * wait ? 0 : due;
  }
}

function chooseSession(watch: Watch, agent: AgentId, own: SessionKey): SessionKey {
  if (watch.session === "isolated") return own;
  return watch.session === "main" ? sessionKeys.main(agent) : asId<SessionKey>(watch.session);
}

function short(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
