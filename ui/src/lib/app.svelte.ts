/** What every page shares: the connection, Lares' state, what waits for the person, the conversations, the passing second. */
import type { Approval, Client, Result, Scope } from "../../../src/core/protocol/index.ts";
import { AppError, type Connection, type LiveEvent, Wire } from "./client.ts";
import { w } from "./words.ts";

export type Status = Result<"status">;
export type Session = Result<"sessions.list">["sessions"][number];
export type { Approval };

type Listener = (liveEvent: LiveEvent) => void;
export interface Toast {
  text: string;
  link?: { href: string; text: string };
  undo?: () => void;
}

class App {
  connection: Connection = $state.raw({ kind: "connecting" });
  scopes: Scope[] = $state.raw([]);
  version: string = $state("");
  /** The version that was loaded with; another one means that a reload brings something new. */
  firstVersion = $state("");
  /** Counts connections: pages read again when it changes. */
  epoch: number = $state(0);
  status: Status | undefined = $state.raw();
  statusAt: number = $state(0);
  approvals: Approval[] = $state.raw([]);
  sessions: Session[] = $state.raw([]);
  sessionsKnown: boolean = $state(false);
  now: number = $state(Date.now());
  toast: Toast | undefined = $state.raw();
  palette: boolean = $state(false);
  keysShown: boolean = $state(false);
  /** Sentence for screen readers, polite. */
  spoken: string = $state("");

  readonly wire: Wire;
  private readonly listeners = new Set<Listener>();
  private toastTimer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.wire = new Wire({
      onConnection: (connection) => {
        this.connection = connection;
      },
      onOnline: (info) => {
        if (info.scopes.length) this.scopes = info.scopes;
        this.version = info.version;
        this.firstVersion ||= info.version;
        this.epoch++;
        this.refresh();
        if (!info.first) this.welcomeBack(info.restarted);
      },
      onLiveEvent: (liveEvent) => {
        this.react(liveEvent);
        for (const listener of this.listeners) listener(liveEvent);
      },
    });
    setInterval(() => {
      if (document.visibilityState === "visible") this.now = Date.now();
    }, 1000);
    setInterval(() => {
      if (document.visibilityState === "visible" && this.isOnline) this.readStatus();
    }, 15_000);
  }

  get call(): Client["call"] {
    return this.wire.client.call;
  }
  get isOnline(): boolean {
    return this.connection.kind === "online";
  }
  /** The time up to which this page knows what happens: without a connection nothing may go on counting. */
  get known(): number {
    return this.connection.kind === "offline" ? Math.min(this.now, this.connection.since) : this.now;
  }
  /** How many things need somebody, over everything; the server counts them. */
  get needed(): number {
    return Math.max(this.status?.attention ?? 0, this.approvals.length);
  }
  may(scope: Scope): boolean {
    return this.scopes.length === 0 || this.scopes.includes(scope);
  }

  onLiveEvent(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  refresh(): void {
    this.readSessions();
    this.readApprovals();
    this.readStatus();
  }

  readonly readStatus = soon(200, async () => {
    this.status = await this.call("status", {});
    this.statusAt = Date.now();
  });
  readonly readSessions = soon(60, async () => {
    this.sessions = (await this.call("sessions.list", { limit: 200 })).sessions;
    this.sessionsKnown = true;
  });
  readonly readApprovals = soon(30, async () => {
    const before = this.approvals.length;
    this.approvals = (await this.call("approvals.list", { state: "pending" })).approvals;
    if (this.approvals.length > before) this.spoken = String(this.approvals.length);
  });

  say(toast: Toast): void {
    this.toast = toast;
    clearTimeout(this.toastTimer);
    this.toastTimer = setTimeout(() => (this.toast = undefined), toast.undo ? 10_000 : 5000);
  }

  private react(liveEvent: LiveEvent): void {
    switch (liveEvent.event) {
      case "approval.asked":
      case "approval.answered":
      case "turn.parked":
        this.readApprovals();
        this.readSessions();
        this.readStatus();
        break;
      case "turn.accepted":
      case "turn.ended":
      case "session.changed":
        this.readSessions();
        this.readStatus();
        break;
      case "turn.started":
      case "channel.status":
      case "schedule.fired":
      case "config.changed":
      case "delivery":
        this.readStatus();
        break;
      case "poll":
        this.epoch++;
        this.refresh();
        break;
      default:
        break;
    }
  }

  /** Events that were missed follow a reconnection at once; after a moment they are counted. */
  private welcomeBack(restarted: boolean): void {
    let n = 0;
    const off = this.onLiveEvent((liveEvent) => {
      if (liveEvent.event === "turn.ended" || liveEvent.event === "approval.asked") n++;
    });
    setTimeout(() => {
      off();
      const text = restarted ? w.conn.backUnknown : w.conn.back(n);
      this.say({ text, ...(restarted || n ? { link: { href: "/activity", text: w.conn.see } } : {}) });
    }, 400);
  }
}

/** Runs at most once per `ms`, with the last wish always served. Failures are the connection's business, shown elsewhere. */
function soon(ms: number, work: () => Promise<void>): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let busy = false;
  let again = false;
  const run = async () => {
    timer = undefined;
    busy = true;
    try {
      await work();
    } catch (error) {
      if (!(error instanceof AppError)) console.error(error);
    }
    busy = false;
    if (again) {
      again = false;
      ask();
    }
  };
  const ask = () => {
    if (busy) again = true;
    else if (timer === undefined) timer = setTimeout(() => void run(), ms);
  };
  // The first wish is served at once.
  let isFirst = true;
  return () => {
    if (isFirst && !busy) {
      isFirst = false;
      void run();
    } else ask();
  };
}

/** A conversation without a word in it yet has its key for a title; people are shown something better. */
export const readTitle = (s: Session | undefined): string => (!s || s.title === s.session ? "" : s.title);

export const app = new App();
