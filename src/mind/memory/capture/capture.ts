/**
 * Facts from conversations, in the background: some messages after a turn, or before they leave the model's window. One bounded
 * model call a pass, set aside in the budget before and settled after; plain rules where no model is connected.
 *
 * MEMORY-9: a message is looked through once. A kill repeats at most one pass, and the facts have ids of their place, so none doubles.
 * MEMORY-10: when text from outside is among the messages, what is found waits for a person (I12).
 * MEMORY-11: nothing that people had forgotten comes back this way.
 */

import { createHash } from "node:crypto";
import type { ModelReply, ModelRequest, Records, Tx } from "../../../core/contracts/index.ts";
import { memoryPasses, sourceKeys, workKeys } from "../../../core/domain/index.ts";
import {
  type Apart,
  type Bus,
  type Clock,
  type Crash,
  defined,
  type Guard,
  guarded,
  type Log,
  noGuard,
  STOPPED_LARES,
  stampIn,
} from "../../../core/kit/index.ts";
import type { MemoryConfig } from "../config.ts";
import type { Viewer } from "../kinds.ts";
import type { Memory } from "../memory.ts";
import { replacing } from "../replacing.ts";
import {
  CAPTURE_PROMPT,
  type CapturedFact,
  capturedByRules,
  captureQuestion,
  looksLikeInstruction,
  readCaptured,
  type SpokenLine,
} from "./extract.ts";
import { findLast, markRead, messagesFrom, readUpTo, type SaidRow, waitingSessions, waitingWords } from "./store.ts";

/** What a pass needs of models and budgets. */
export interface Asking {
  /** Whether a language model can be asked for this agent, and which. */
  model(agent: string, configured: string | undefined): string | undefined;
  /** One call, set aside and settled. `refused`: no budget. Never throws for a provider's failure. */
  ask(call: {
    purpose: string;
    session: string;
    agent: string;
    request: ModelRequest;
    signal: AbortSignal;
  }): Promise<{ reply: ModelReply; record: (tx: Tx) => void } | { refused: string }>;
}

export interface CaptureParts {
  memory: Memory;
  records: Records;
  clock: Clock;
  crash: Crash;
  guard?: Guard;
  log: Log;
  config: () => MemoryConfig["capture"];
  asking: Asking;
  /** Whose session it is; undefined when nothing is captured there (a job's run, a sub-agent). */
  viewer: (session: string) => Promise<(Viewer & { agent: string }) | undefined>;
  /** The zone this person reads clocks in; without one, or without their own zone, the owner's. */
  findZone: (person?: string) => Promise<string>;
}

/** Messages and letters of one pass: about 4,000 tokens. */
const MOST_MESSAGES = 60;
const MOST_LETTERS = 16_000;
const LONGEST_MESSAGE = 2000;
const MOST_OUTPUT = 800;
/** Sessions used in this time are looked at after a start. */
const RECENT_MS = 2 * 86_400_000;
/** How long a compaction waits for the conversation's facts. */
const FLUSH_MS = 20_000;
const SHOWN_KNOWN = 12;
/** Sessions kept in mind whose pass led nowhere. Beyond it all are forgotten: each is then tried once more. */
const MOST_PUT_OFF = 1000;
/** Turns between two counts of a session's messages: those that joined a running turn are missed until then. */
const RECOUNT = 8;

export class Capture {
  private readonly parts: CaptureParts;
  /** Sessions that are looked through when they have been quiet for a while, and how many messages wait there; first due first. */
  private readonly armed = new Map<string, { due: number; waiting: number }>();
  /**
   * Sessions whose last pass led nowhere: no budget, the day's calls are used up, a model that failed. Their messages still wait, so the
   * count alone would have every further turn read them all again.
   */
  private readonly putOff = new Set<string>();
  /** One timer for all: a timer each would stay for every conversation of the last minutes. */
  private cancelTimer: (() => void) | undefined;
  private readonly stopped = new AbortController();
  private order: Promise<unknown> = Promise.resolve();
  private day = { name: "", calls: 0 };

  constructor(parts: CaptureParts) {
    this.parts = parts;
  }

  /** What an earlier process left is looked through after the usual quiet time. */
  async start(): Promise<void> {
    if (this.parts.config().use === "off") return;
    const since = this.parts.clock.now() - RECENT_MS;
    for (const session of await waitingSessions(this.parts.records, since)) this.arm(session, Number.POSITIVE_INFINITY);
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    this.cancelTimer?.();
    await this.order.catch(() => {});
  }

  /** What is imported was said elsewhere, and nothing is taken from it. Returns how to stop listening. */
  listen(bus: Bus, aside: (work: Promise<unknown>) => void): () => void {
    return bus.on((event) => {
      if (event.event === "session.changed" && event.what === "imported") aside(this.skip(event.session));
    });
  }

  /** A turn of this session ended. Returns at once. */
  ended(session: string): void {
    const { use, everyMessages } = this.parts.config();
    if (use === "off" || this.stopped.signal.aborted) return;
    // Most turns bring one message, so it is counted by the turns and only now and then in the records.
    const before = this.putOff.delete(session) ? 0 : Number.POSITIVE_INFINITY;
    const guess = (this.armed.get(session)?.waiting ?? before) + 1;
    if (guess < everyMessages && guess % RECOUNT !== 0) {
      this.arm(session, guess);
      return;
    }
    void waitingWords(this.parts.records, session, everyMessages)
      .then((waiting) => {
        if (waiting >= everyMessages) void this.pass(session);
        else if (waiting > 0) this.arm(session, waiting);
      })
      .catch(() => {});
  }

  /** This session came from elsewhere: its past is searched, not looked through for facts. */
  async skip(session: string): Promise<void> {
    const upto = await findLast(this.parts.records, session);
    await this.parts.records.write((tx) => markRead(tx, session, upto, this.parts.clock.now()));
  }

  /** Looks through what is new now; before a conversation is shortened. Never throws, never waits long. */
  async flush(session: string): Promise<void> {
    if (this.parts.config().use === "off") return;
    let giveUp = () => {};
    const late = new Promise<void>((resolve) => {
      giveUp = this.parts.clock.after(FLUSH_MS, resolve);
    });
    await Promise.race([this.pass(session), late]);
    giveUp();
  }

  /** All sessions with something new; the nightly pass begins with it. */
  async flushAll(since: number): Promise<void> {
    for (const session of await waitingSessions(this.parts.records, since)) await this.pass(session);
  }

  private arm(session: string, waiting: number): void {
    if (this.stopped.signal.aborted) return;
    const due = this.parts.clock.now() + this.parts.config().idleSeconds * 1000;
    // Deleted first, so that it goes to the end.
    this.armed.delete(session);
    this.armed.set(session, { due, waiting });
    if (!this.cancelTimer) this.wait();
  }

  private wait(): void {
    const [first] = this.armed.values();
    if (!first || this.stopped.signal.aborted) return;
    this.cancelTimer = this.parts.clock.after(Math.max(0, first.due - this.parts.clock.now()), () => {
      this.cancelTimer = undefined;
      const now = this.parts.clock.now();
      for (const [session, { due }] of this.armed) {
        if (due > now) break;
        void this.pass(session);
      }
      this.wait();
    });
  }

  private pass(session: string): Promise<void> {
    this.armed.delete(session);
    const done = this.order.then(() => this.passNow(session));
    this.order = done.catch((error: unknown) => {
      if (this.stopped.signal.aborted) return;
      this.parts.log.warn("facts couldn't be extracted from a conversation", { session, reason: String(error) });
    });
    return this.order as Promise<void>;
  }

  private async passNow(session: string): Promise<void> {
    const { records, clock, log, guard = noGuard } = this.parts;
    if (this.stopped.signal.aborted) return;
    const from = await readUpTo(records, session);
    const rows = bounded(await messagesFrom(records, session, from, MOST_MESSAGES));
    const upto = rows.at(-1)?.seq;
    if (upto === undefined) return;
    await guarded(
      guard,
      workKeys.capture(from, session),
      (apart) => this.look(session, rows, upto, apart),
      async () => {
        log.warn("messages of a conversation were left out of memory", { session, upto, why: STOPPED_LARES });
        await records.write((tx) => markRead(tx, session, upto, clock.now()));
      },
    );
  }

  private async look(session: string, rows: readonly SaidRow[], upto: number, apart: Apart): Promise<void> {
    const { records, clock, crash } = this.parts;
    crash.at("memory.reading", () => rows.map((row) => row.content).join("\n"));
    const viewer = await this.parts.viewer(session);
    // As in the line above each message: the assistant uses the speaker's time zone.
    const person = rows.findLast((row) => row.role === "user")?.person ?? undefined;
    const zone = await this.parts.findZone(person);
    const lines = rows.flatMap((row) => said(row, zone));
    const read = (record?: (tx: Tx) => void) =>
      records.write((tx) => {
        record?.(tx);
        markRead(tx, session, upto, clock.now());
      });
    if (!viewer || !lines.some((line) => line.role === "user")) return read();
    const isOutside = rows.some((row) => row.outside === 1);
    // Somebody else's words around it would be taken for the person's: then only the person's own count.
    const own = isOutside ? lines.filter((line) => line.role === "user") : lines;
    const found = await this.find(session, viewer, own, upto, apart);
    if (!found) {
      if (this.putOff.size >= MOST_PUT_OFF) this.putOff.clear();
      this.putOff.add(session);
      return;
    }
    if (found.record) crash.at("capture.asked");
    await this.keep(session, upto, viewer, found.facts, isOutside);
    crash.at("capture.kept");
    await read(found.record);
  }

  private async find(
    session: string,
    viewer: Viewer & { agent: string },
    lines: readonly SpokenLine[],
    upto: number,
    apart: Apart,
  ): Promise<{ facts: CapturedFact[]; record?: (tx: Tx) => void } | undefined> {
    const { asking, clock, log } = this.parts;
    const config = this.parts.config();
    const model = config.use === "rules" ? undefined : asking.model(viewer.agent, config.model);
    if (model === undefined)
      return config.use === "model" ? { facts: [] } : { facts: capturedByRules(lines, viewer.person) };
    const today = stampIn(await this.parts.findZone(), clock.now()).date;
    if (this.day.name !== today) this.day = { name: today, calls: 0 };
    // The rest of the day's conversations wait for tomorrow; nothing of them is skipped.
    if (this.day.calls >= config.maxPerDay) return undefined;
    this.day.calls++;
    const query = lines.map((line) => line.text).join("\n");
    const known = await this.parts.memory.search({ query: query.slice(-1500), limit: SHOWN_KNOWN, ...viewer });
    const ask = () =>
      asking.ask({
        purpose: memoryPasses.capture(makeId(session), upto),
        session,
        agent: viewer.agent,
        request: {
          model,
          system: CAPTURE_PROMPT,
          tools: [],
          messages: [{ role: "user", content: [{ type: "text", text: captureQuestion(lines, known) }] }],
          maxOutputTokens: MOST_OUTPUT,
          cacheKey: "memory-capture",
        },
        signal: this.stopped.signal,
      });
    const asked = await apart("asks", ask);
    if ("refused" in asked) {
      log.info("facts aren't extracted from a conversation: no budget left", { session, reason: asked.refused });
      return undefined;
    }
    const { reply, record } = asked;
    if (!reply.ok) {
      log.warn("a model couldn't process a conversation", { session, reason: reply.message });
      // What the call cost is kept; the messages are tried again with the next ones.
      await this.parts.records.write(record);
      return undefined;
    }
    const answer = reply.content.map((part) => (part.type === "text" ? part.text : "")).join("");
    return { facts: readCaptured(answer, new Set(known.map((fact) => fact.id))), record };
  }

  private async keep(
    session: string,
    upto: number,
    viewer: Viewer & { agent: string },
    facts: readonly CapturedFact[],
    isOutside: boolean,
  ): Promise<void> {
    const { memory } = this.parts;
    for (const [n, fact] of facts.entries()) {
      if (await memory.wasForgotten(fact.text)) continue;
      const why = whyUnsure(fact.text, isOutside);
      const old = fact.replaces && why === undefined ? await memory.seen(fact.replaces, viewer) : undefined;
      const instead = old && replacing(old, viewer);
      const sayer = viewer.owner ? "agent" : "person";
      await memory.add({
        id: `mem_cap${makeId(session)}${upto.toString(36)}x${n}`,
        text: fact.text,
        kind: fact.kind,
        source: sourceKeys.session(session),
        trust: isOutside ? "outside" : sayer,
        ...defined({ pending: why }),
        ...(viewer.person === undefined ? { agent: viewer.agent } : { person: viewer.person }),
        ...(instead && "fact" in instead ? instead.fact : {}),
      });
    }
  }
}

/** Why a person has to confirm it first. */
function whyUnsure(text: string, isOutside: boolean): string | undefined {
  if (isOutside) return "Text from outside was part of this conversation.";
  return looksLikeInstruction(text) ? "It reads like an instruction to a model." : undefined;
}

function makeId(session: string): string {
  return createHash("sha256").update(session).digest("hex").slice(0, 12);
}

/** As many as one pass takes, the oldest first. At least one. */
function bounded(rows: readonly SaidRow[]): SaidRow[] {
  let letters = 0;
  const taken: SaidRow[] = [];
  for (const row of rows) {
    letters += Math.min(row.content.length, LONGEST_MESSAGE);
    if (taken.length > 0 && letters > MOST_LETTERS) break;
    taken.push(row);
  }
  return taken;
}

function said(row: SaidRow, zone: string): SpokenLine[] {
  if (row.role === "tool") return [];
  const parts = JSON.parse(row.content) as readonly { type: string; text?: string; ours?: true }[];
  const text = parts
    .filter((part) => part.type === "text" && !part.ours)
    .map((part) => part.text ?? "")
    .join("\n")
    .trim();
  if (text === "") return [];
  const { weekday, date } = stampIn(zone, row.at);
  const role = row.role === "user" ? "user" : "assistant";
  return [{ role, text: text.slice(0, LONGEST_MESSAGE), day: `${weekday} ${date}` }];
}
