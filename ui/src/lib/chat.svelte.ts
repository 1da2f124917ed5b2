/**
 * One conversation as the page holds it: the newest records, what streams right now, and what this page sent.
 *
 * UI-1: the records are the truth. Streamed text is shown until the record of that very reply is read, then dropped; both have
 *     the same key, so an answer is on the page once.
 * UI-2: nothing typed is lost: drafts and messages under way are kept per session in this tab until they are accepted.
 * UI-3: text is drawn once per frame, however many pieces arrive.
 */
import type { HistoryMessage, Result } from "../../../src/core/protocol/index.ts";
import { messageIds, readInputId, sessionKeys } from "../../../src/core/protocol/keys.ts";
import { app } from "./app.svelte.ts";
import { MOST_FILES, Upload } from "./attach.svelte.ts";
import type { Attached } from "./attached.ts";
import { AppError, type LiveEvent, newKey } from "./client.ts";
import {
  type Entry,
  liveKey,
  type Own,
  type Restart,
  replyKey,
  type ToolUse,
  toAttached,
  toEntries,
} from "./entries.ts";
import { isOpen } from "./states.ts";

export type TurnFacts = Result<"turns.get">;

interface LiveCall {
  text: string;
  thinking: string;
}
/** Text as it arrives, with the pieces since the gateway was last asked what it said so far. */
interface Incoming extends LiveCall {
  pieces: { seq: number; text: string; thinking: string }[];
}
interface LiveTurn {
  turn: string;
  state: "queued" | "running" | "parked";
  began: number;
  /** What it does this moment. */
  doing:
    | { kind: "model" }
    | { kind: "writing" }
    | { kind: "tool"; use: ToolUse; far?: string }
    | { kind: "retry"; attempt: number; failure: string; until: number }
    | undefined;
  doingSince: number;
}

/** Records read at a time. */
const PAGE = 120;

export class Chat {
  readonly session: string;
  records: HistoryMessage[] = $state.raw([]);
  restarts: Restart[] = $state.raw([]);
  more: boolean = $state(false);
  loaded: boolean = $state(false);
  loadingOlder: boolean = $state(false);
  problem: AppError | undefined = $state.raw();
  own: Own[] = $state([]);
  draft: string = $state("");
  /** Files that go with the next message. */
  files: Upload[] = $state([]);
  /** Turns of this session that are not over, by id. */
  live: LiveTurn[] = $state([]);
  facts: Record<string, TurnFacts> = $state.raw({});
  stopping: boolean = $state(false);
  /** The message whose place the next one takes; `turn` is missing while it is not accepted itself. */
  editing: { turn: string | undefined } | undefined = $state.raw();
  /** Outcomes that are in no record: a command's answer. */
  notes: { turn: string; text: string; failed: boolean }[] = $state.raw([]);
  /** Bumped once per frame while text arrives. */
  private calls: Record<string, LiveCall> = $state.raw({});
  private times: Record<string, { began?: number; ended?: number }> = $state.raw({});
  private incoming = new Map<string, Incoming>();
  /** The gateway's number up to which its last answer knew the text. */
  private liveSeq = 0;
  private frame = 0;
  private asked = new Set<string>();
  private reading: Promise<void> | undefined;
  private readAgain = false;
  /** The turns whose end was seen: nothing late may bring them back. */
  private over = new Set<string>();

  constructor(session: string) {
    this.session = session;
    const kept = load(session);
    this.draft = kept.draft;
    this.own = kept.own;
    this.files = kept.files.map((file) => new Upload(file));
    this.editing = kept.editing;
  }

  get current(): LiveTurn | undefined {
    return this.live.find((t) => t.state === "running") ?? this.live.find((t) => t.state === "queued") ?? this.live[0];
  }
  get isRunning(): boolean {
    return this.live.some((t) => t.state === "running" || t.state === "queued");
  }

  /** All there is to show, oldest first. */
  readonly entries: Entry[] = $derived.by(() => this.compose());

  private compose(): Entry[] {
    const open = new Set(this.live.map((t) => t.turn));
    const past = toEntries(this.records, open, this.restarts);
    const seen = new Set(this.records.map((r) => r.id));
    const known = new Set(past.map((entry) => entry.key));
    const liveEntries: Entry[] = [];
    for (const [key, call] of Object.entries(this.calls)) {
      const turn = key.slice(0, key.lastIndexOf("/"));
      if (this.records.some((r) => r.role === "assistant" && r.turn === turn && replyKey(r.id, turn) === key)) continue;
      if (call.thinking) {
        liveEntries.push({ kind: "thinking", key: `${key}:thinking`, turn, text: call.thinking, live: !call.text });
      }
      if (call.text.trim())
        liveEntries.push({ kind: "text", key: `${key}:text`, turn, text: call.text, at: 0, live: true });
    }
    const waiting: Entry[] = [];
    for (const own of this.own) {
      if (own.turn && (seen.has(messageIds.input(own.turn)) || known.has(messageIds.input(own.turn)))) continue;
      const key = own.turn ? messageIds.input(own.turn) : own.key;
      if (own.label) {
        waiting.push({ kind: "event", key, turn: own.turn ?? own.key, label: own.label, text: own.text, at: own.at });
        continue;
      }
      const entry: Extract<Entry, { kind: "mine" }> = {
        kind: "mine",
        key,
        turn: own.turn ?? own.key,
        text: own.text,
        at: own.at,
        sending: own,
        from: own.from ?? { own: true, name: "", channel: "ws" },
      };
      if (own.files?.length) entry.files = own.files;
      const note = this.notes.find((n) => n.turn === own.turn);
      waiting.push(entry);
      if (note) waiting.push({ kind: "note", key: `note ${note.turn}`, ...note });
    }
    // What was said to start the running turn stands above what it says; what was said since, below.
    const first = liveEntries[0]?.turn;
    const above = waiting.filter(
      (e) => e.turn === first || e.kind === "note" || this.notes.some((n) => n.turn === e.turn),
    );
    const below = waiting.filter((e) => !above.includes(e));
    // A turn that was begun before a restart: what it was asked stands above the line that says so.
    const cut = past.at(-1)?.kind === "restart" ? past.length - 1 : past.length;
    const all = [...past.slice(0, cut), ...above, ...past.slice(cut), ...liveEntries, ...below];
    for (const entry of all) {
      if (entry.kind !== "tool") continue;
      const time = this.times[`${entry.turn} ${entry.use.id}`];
      if (time) Object.assign(entry.use, time);
    }
    return all;
  }

  /** Reads what is new; called at the start, after every connection, and when a step was recorded. */
  refresh(): Promise<void> {
    if (this.reading) {
      this.readAgain = true;
      return this.reading;
    }
    this.reading = this.read().finally(() => {
      this.reading = undefined;
      if (this.readAgain) {
        this.readAgain = false;
        void this.refresh();
      }
    });
    return this.reading;
  }

  private async read(): Promise<void> {
    try {
      // What runs is asked first: a reply recorded in between is then in the history and drops out by its key (UI-1).
      const { session } = this;
      const [now, page] = await Promise.all([
        app.call("chat.live", { session }),
        app.call("chat.history", { session, limit: PAGE }),
      ]);
      this.merge(page.messages, page.more);
      this.restarts = page.restarts ?? [];
      this.takeLive(now);
      this.problem = undefined;
    } catch (error) {
      if (error instanceof AppError) this.problem = error;
      else throw error;
    }
    this.loaded = true;
    this.prune();
  }

  async older(): Promise<void> {
    if (!this.more || this.loadingOlder) return;
    this.loadingOlder = true;
    try {
      const before = this.records[0]?.seq;
      const page = await app.call("chat.history", {
        session: this.session,
        limit: PAGE,
        ...(before ? { before } : {}),
      });
      this.records = [...page.messages, ...this.records];
      this.more = page.more;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
    } finally {
      this.loadingOlder = false;
    }
  }

  private merge(fresh: HistoryMessage[], more: boolean): void {
    const first = fresh[0]?.seq;
    const kept = first === undefined ? [] : this.records.filter((r) => r.seq < first);
    const gap = kept.length > 0 && first !== undefined && kept.at(-1)!.seq < first - 1;
    if (gap || kept.length === 0) {
      this.records = fresh;
      this.more = more;
    } else this.records = [...kept, ...fresh];
  }

  private takeLive(now: Result<"chat.live">): void {
    const open = now.turns.filter((t) => !this.over.has(t.turn) && isOpen(t.state));
    this.live = open.map((t) => {
      const known = this.live.find((l) => l.turn === t.turn);
      return {
        turn: t.turn,
        state: t.state as LiveTurn["state"],
        began: t.startedAt ?? known?.began ?? t.acceptedAt,
        doing: known?.doing ?? doingNow(t),
        doingSince: known?.doingSince ?? t.startedAt ?? Date.now(),
      };
    });
    this.liveSeq = now.seq;
    const times = { ...this.times };
    for (const t of open) {
      for (const call of t.calls) {
        const key = liveKey(t.turn, call.call);
        // Pieces that overtook the answer are put behind it; the others are in it.
        const later = (this.incoming.get(key)?.pieces ?? []).filter((piece) => piece.seq > now.seq);
        this.incoming.set(key, {
          text: call.text + later.map((p) => p.text).join(""),
          thinking: call.thinking + later.map((p) => p.thinking).join(""),
          pieces: later,
        });
      }
      for (const { id, startedAt, endedAt } of t.tools) {
        times[`${t.turn} ${id}`] ??= { began: startedAt, ...(endedAt === undefined ? {} : { ended: endedAt }) };
      }
      if (t.message !== undefined && !this.own.some((o) => o.turn === t.turn || this.under.has(o.key))) {
        this.own.push({
          key: t.turn,
          turn: t.turn,
          text: t.message,
          mode: "steer",
          at: t.acceptedAt,
          state: "accepted",
          ...(t.attachments ? { files: t.attachments.map(toAttached) } : {}),
          ...(t.label ? { label: t.label } : {}),
          ...(t.speaker && !t.speaker.own ? { from: { name: "", ...t.speaker } } : {}),
        });
      }
    }
    this.times = times;
    this.draw();
  }

  /** Drops what the records now hold. */
  private prune(): void {
    const seen = new Set(this.records.map((r) => r.id));
    this.own = this.own.filter((o) => !(o.turn && seen.has(messageIds.input(o.turn))));
    for (const key of this.incoming.keys()) {
      const turn = key.slice(0, key.lastIndexOf("/"));
      if (this.over.has(turn)) this.incoming.delete(key);
    }
    if (Object.keys(this.calls).some((key) => this.over.has(key.slice(0, key.lastIndexOf("/"))))) {
      this.calls = Object.fromEntries(
        Object.entries(this.calls).filter(([key]) => !this.over.has(key.slice(0, key.lastIndexOf("/")))),
      );
    }
    this.keep();
  }

  take(liveEvent: LiveEvent): void {
    const { turn } = liveEvent;
    switch (liveEvent.event) {
      case "turn.accepted":
        this.touch(turn, "queued");
        if (!this.own.some((o) => o.turn === turn || (o.state === "sending" && o.text === liveEvent.text))) {
          const files = liveEvent.attachments?.map(toAttached) ?? [];
          this.own.push({
            ...{ key: turn, turn, text: liveEvent.text, mode: "steer", at: Date.now(), state: "accepted" },
            ...(files.length ? { files } : {}),
            ...(liveEvent.label ? { label: liveEvent.label } : {}),
            // Who else wrote it is known once it is in the records; this page's own are in the list before.
            ...(isOwnWay(liveEvent.route) ? {} : { from: { own: false, name: "", channel: liveEvent.route.channel } }),
          });
        }
        break;
      case "turn.started":
        this.touch(turn, "running");
        break;
      case "turn.step":
        this.touch(turn, "running", { kind: "model" });
        void this.refresh();
        break;
      case "turn.delta":
      case "turn.thinking":
        this.grow(liveEvent);
        break;
      case "turn.discarded":
        this.incoming.delete(liveKey(turn, liveEvent.call));
        this.drawSoon();
        break;
      case "turn.retrying": {
        const { attempt, failure, inMs } = liveEvent;
        this.touch(turn, "running", { kind: "retry", attempt, failure, until: Date.now() + inMs });
        break;
      }
      case "tool.call": {
        const use = { key: liveEvent.id, turn, id: liveEvent.id, name: liveEvent.name, input: liveEvent.input };
        this.times = { ...this.times, [`${turn} ${liveEvent.id}`]: { began: Date.now() } };
        this.touch(turn, "running", { kind: "tool", use });
        void this.refresh();
        break;
      }
      case "tool.progress": {
        const { doing } = this.live.find((one) => one.turn === turn) ?? {};
        if (doing?.kind === "tool" && doing.use.id === liveEvent.id) doing.far = liveEvent.text;
        break;
      }
      case "tool.result": {
        const key = `${turn} ${liveEvent.id}`;
        this.times = { ...this.times, [key]: { ...this.times[key], ended: Date.now() } };
        this.touch(turn, "running", { kind: "model" });
        void this.refresh();
        break;
      }
      case "turn.parked":
        this.touch(turn, "parked");
        void this.refresh();
        break;
      case "turn.ended":
        this.ended(liveEvent);
        break;
      case "approval.answered":
        void this.turnFacts(turn, true);
        break;
      case "session.changed":
        if (liveEvent.what === "deleted") this.records = [];
        void this.refresh();
        break;
      default:
        break;
    }
  }

  private ended(liveEvent: LiveEvent): void {
    const { turn } = liveEvent;
    this.over.add(turn);
    this.live = this.live.filter((t) => t.turn !== turn);
    this.stopping = false;
    const own = this.own.find((o) => o.turn === turn);
    void this.turnFacts(turn, true);
    void this.refresh().then(() => {
      // A command's answer is in no record.
      const recorded = this.records.some((r) => r.turn === turn) || liveEvent.joined || liveEvent.state === "joined";
      if (!recorded && own && liveEvent.text) {
        this.notes = [...this.notes, { turn, text: liveEvent.text, failed: liveEvent.state === "failed" }];
      }
    });
  }

  private touch(turn: string, state: LiveTurn["state"], doing?: LiveTurn["doing"]): void {
    if (this.over.has(turn)) return;
    let found = this.live.find((t) => t.turn === turn);
    if (!found) {
      this.live.push({ turn, state, began: Date.now(), doing, doingSince: Date.now() });
      found = this.live.at(-1)!;
    }
    if (found.state !== state) {
      if (state === "running" && found.state !== "parked") found.began = Date.now();
      found.state = state;
      if (state === "parked") found.doing = undefined;
    }
    if (doing) {
      found.doing = doing;
      found.doingSince = Date.now();
    }
  }

  private grow(liveEvent: LiveEvent): void {
    if (this.over.has(liveEvent.turn) || liveEvent.seq <= this.liveSeq) return;
    const key = liveKey(liveEvent.turn, liveEvent.call);
    const call = this.incoming.get(key) ?? { text: "", thinking: "", pieces: [] };
    const piece =
      liveEvent.event === "turn.delta"
        ? { text: liveEvent.text, thinking: "" }
        : { text: "", thinking: liveEvent.text };
    call.text += piece.text;
    call.thinking += piece.thinking;
    call.pieces.push({ seq: liveEvent.seq, ...piece });
    this.incoming.set(key, call);
    const turn = this.live.find((t) => t.turn === liveEvent.turn);
    if (turn?.doing?.kind !== "writing") this.touch(liveEvent.turn, "running", { kind: "writing" });
    this.drawSoon();
  }

  private drawSoon(): void {
    if (this.frame) return;
    const draw = () => this.draw();
    this.frame =
      document.visibilityState === "visible" ? requestAnimationFrame(draw) : (setTimeout(draw, 250) as never);
  }

  private draw(): void {
    this.frame = 0;
    const calls: Record<string, LiveCall> = {};
    for (const [key, { text, thinking }] of this.incoming) calls[key] = { text, thinking };
    this.calls = calls;
  }

  /** A new connection: numbers may start over, and text may have been missed. */
  reconnected(): void {
    this.liveSeq = 0;
    this.incoming.clear();
    void this.refresh();
    for (const own of this.own) if (own.state === "sending" && !this.under.has(own.key)) void this.deliver(own);
  }
  /** Messages this very page has under way; others were left by the page before a reload. */
  private readonly under = new Set<string>();

  /** Begins to send files that will go with the next message. False: there were too many, the rest is left out. */
  attach(list: Iterable<File>): boolean {
    let fits = true;
    for (const file of list) {
      if (this.files.length < MOST_FILES) this.files.push(new Upload(file));
      else fits = false;
    }
    for (const { settled } of this.files) void settled.then(() => this.keep());
    return fits;
  }

  detach(file: Upload): void {
    file.cancel();
    this.files = this.files.filter((f) => f.key !== file.key);
    this.keep();
  }

  async send(text: string, mode: "steer" | "followup", agent?: string): Promise<void> {
    const files = this.files.flatMap(({ done }) => done ?? []);
    const own: Own = {
      key: newKey(),
      text,
      mode,
      at: Date.now(),
      state: "sending",
      ...(files.length ? { files } : {}),
      ...(this.editing?.turn ? { replaces: this.editing.turn } : {}),
    };
    this.own.push(own);
    this.editing = undefined;
    this.draft = "";
    this.files = [];
    this.keep();
    await this.deliver(this.own.at(-1)!, agent);
  }

  /** Where it goes: in place of an edited message, or beside the turn that is running. */
  private readPlace({ replaces, mode }: Own): { replaces?: string; mode?: Own["mode"] } {
    if (replaces) return { replaces };
    return this.isRunning ? { mode } : {};
  }

  async deliver(own: Own, agent?: string): Promise<void> {
    own.state = "sending";
    delete own.error;
    this.under.add(own.key);
    try {
      const done = await app.call("chat.send", {
        message: own.text,
        session: this.session,
        wait: false,
        idempotencyKey: own.key,
        ...(own.files?.length ? { attachments: own.files.map((file) => file.id) } : {}),
        ...this.readPlace(own),
        ...(agent ? { agent } : {}),
      });
      own.state = "accepted";
      own.turn = done.turn;
      if (isOpen(done.state)) this.touch(done.turn, done.state as LiveTurn["state"]);
      this.own = this.own.filter((o) => o === own || o.turn !== done.turn || o.key !== done.turn);
    } catch (error) {
      const e = error instanceof AppError ? error : new AppError("INTERNAL", { message: String(error) });
      own.state = "refused";
      own.error = { message: e.message, code: e.code, ...(e.hint ? { hint: e.hint } : {}) };
    }
    this.under.delete(own.key);
    this.prune();
  }

  drop(own: Own): void {
    this.own = this.own.filter((o) => o.key !== own.key);
    this.keep();
  }

  async stop(): Promise<void> {
    const turn = this.current?.turn;
    if (!turn) return;
    this.stopping = true;
    try {
      await app.call("chat.abort", { turn });
    } catch (error) {
      this.stopping = false;
      if (!(error instanceof AppError)) throw error;
    }
    setTimeout(() => (this.stopping = false), 5000);
  }

  /** Reads a turn's facts (times, cost, approvals) once; again when something about it changed. */
  async turnFacts(turn: string, again = false): Promise<void> {
    if (this.asked.has(turn) && !again) return;
    this.asked.add(turn);
    try {
      const facts = await app.call("turns.get", { turn });
      this.facts = { ...this.facts, [turn]: facts };
    } catch (error) {
      this.asked.delete(turn);
      if (!(error instanceof AppError)) throw error;
    }
  }

  /** The newest thing the person said here. */
  get lastMine(): Extract<Entry, { kind: "mine" }> | undefined {
    return this.entries.findLast((e) => e.kind === "mine" && e.from?.own === true);
  }

  /** Brings the last message back into the composer; sending it takes the old one's place. */
  edit(): boolean {
    const last = this.lastMine;
    if (!last) return false;
    const isIn = !last.sending || last.sending.turn !== undefined;
    this.editing = { turn: isIn ? (readInputId(last.key) ?? last.key) : undefined };
    this.draft = last.text;
    this.files = (last.files ?? []).map((file) => new Upload(file));
    return true;
  }

  leaveEdit(): void {
    this.editing = undefined;
    this.draft = "";
    this.files = [];
  }

  keep(): void {
    const files = this.files.flatMap(({ done }) => done ?? []);
    const { editing } = this;
    save(this.session, {
      draft: this.draft,
      own: $state.snapshot(this.own) as Own[],
      files,
      ...(editing ? { editing } : {}),
    });
  }
}

/** By this page, or another of the same reader. */
const isOwnWay = ({ channel }: { channel: string }): boolean => channel === "ws";

function doingNow(turn: Result<"chat.live">["turns"][number]): LiveTurn["doing"] {
  const tool = turn.tools.findLast((t) => t.endedAt === undefined);
  if (tool)
    return { kind: "tool", use: { key: tool.id, turn: turn.turn, id: tool.id, name: tool.name, input: tool.input } };
  return turn.calls.at(-1)?.text ? { kind: "writing" } : { kind: "model" };
}

/** Drafts and messages under way live in this tab only; closing it forgets them. */
interface Kept {
  draft: string;
  own: Own[];
  files: Attached[];
  editing?: { turn: string | undefined };
}
function load(session: string): Kept {
  try {
    const kept = JSON.parse(sessionStorage.getItem(`lares.draft ${session}`) ?? "null") as Partial<Kept>;
    const { draft = "", own = [], files = [], editing } = kept ?? {};
    return { draft, own, files, ...(editing && draft ? { editing } : {}) };
  } catch {
    return { draft: "", own: [], files: [] };
  }
}
function save(session: string, kept: Kept): void {
  try {
    const key = `lares.draft ${session}`;
    if (!kept.draft && !kept.own.length && !kept.files.length) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify(kept));
  } catch {
    // Full or forbidden storage: the draft still lives in memory.
  }
}

const open = new Map<string, Chat>();
/** Conversations stay in memory for a quick way back; the least used go first. */
const MOST_OPEN = 6;

/** A key for a conversation that begins with its first message. */
export function newWebSession(agent: string): string {
  return sessionKeys.web(agent, Math.random().toString(36).slice(2, 10));
}

export function findChat(session: string): Chat {
  const found = open.get(session) ?? new Chat(session);
  open.delete(session);
  open.set(session, found);
  if (open.size > MOST_OPEN) open.delete(open.keys().next().value!);
  return found;
}

app.onLiveEvent((liveEvent) => {
  if (liveEvent.session) open.get(liveEvent.session)?.take(liveEvent);
});
