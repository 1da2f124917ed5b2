/**
 * The smallest runtime that there is: in this process, without a model, with every part of the contract. It shows that the suite can
 * be passed. Prompts are JSON: what to do.
 */
import type {
  RunAnswer,
  RunEventBody,
  RunOutcome,
  RunRequest,
  RunSession,
  RunToken,
  RuntimeAdapter,
  RuntimeCapabilities,
} from "../../../src/core/contracts/index.ts";
import { NO_USAGE } from "../../../src/core/domain/index.ts";
import { systemClock } from "../../../src/core/kit/index.ts";
import { RunQueue } from "../../../src/edges/runtimes/index.ts";
import { type RuntimeStage, unconfined } from "./rig.ts";

type Deed =
  | { do: "say"; thought?: string; words: string }
  | { do: "act"; mark: string; words: string }
  | { do: "forever"; words: string }
  | { do: "fail" };

const yes = <T>(value: T) => ({ proof: "claimed" as const, value });
const no = { proof: "absent" as const };

export const PARROT_CAN: RuntimeCapabilities = {
  class: "in-process",
  stream: yes("token"),
  thinking: yes(true as const),
  steer: yes("mid-turn"),
  interrupt: yes(true as const),
  resume: yes("any-host"),
  approvals: yes({ covers: "every-call", denied: "goes-on", waits: "parked" } as const),
  questions: no,
  mcp: no,
  usage: yes({ tokens: "per-run", money: false } as const),
  proxy: no,
  rateLimits: no,
  children: no,
  boundary: yes(["none"] as const),
  home: no,
  ownScheduler: no,
  ownChannels: no,
};

/** What all parrots of a stage share: the world they act on. */
interface Cage {
  marks: string[];
  heard: string;
  timers: Map<string, NodeJS.Timeout>;
}

export function parrotStage(): RuntimeStage {
  const cage: Cage = { marks: [], heard: "", timers: new Map() };
  const prompt = (deed: Deed) => JSON.stringify(deed);
  return {
    adapter: makeParrot(cage),
    prompts: {
      say: (words) => prompt({ do: "say", words }),
      think: (thought, words) => prompt({ do: "say", thought, words }),
      act: (mark, words) => prompt({ do: "act", mark, words }),
      forever: (words) => prompt({ do: "forever", words }),
      fail: () => prompt({ do: "fail" }),
    },
    ports: () => ({ models: null, mcp: [], home: null, tmp: "/nowhere", env: {}, confine: unconfined }),
    workspace: null,
    marks: (mark) => cage.marks.filter((one) => one === mark).length,
    left: (run) => (cage.timers.has(run) ? [`a timer of ${run}`] : []),
    heard: () => cage.heard,
    close: async () => {},
  };
}

function makeParrot(cage: Cage): RuntimeAdapter {
  return {
    name: "parrot",
    probe: async () => ({ state: "ready", version: "1" }),
    capabilities: () => PARROT_CAN,
    async open(request) {
      const session = new ParrotSession(cage, request);
      session.start(request.prompt.text, String(request.resume?.state.session ?? request.run));
      return session;
    },
    async reattach(token, request) {
      const session = new ParrotSession(cage, request);
      session.wake(token);
      return session;
    },
  };
}

class ParrotSession implements RunSession {
  readonly run: string;
  readonly attempt: number;
  private readonly cage: Cage;
  private readonly queue: RunQueue;
  private readonly asks = new Map<string, "open" | "answered">();
  private session = "";
  private pending: Extract<Deed, { do: "act" }> | undefined;
  private isOver = false;

  constructor(cage: Cage, request: RunRequest) {
    this.cage = cage;
    this.run = request.run;
    this.attempt = request.attempt;
    this.queue = new RunQueue({ ...request, clock: systemClock });
  }

  start(text: string, session: string): void {
    this.session = session;
    this.emit({ type: "run_started", session, model: null, version: "1" });
    this.emit({ type: "checkpoint", token: this.token() });
    this.perform(JSON.parse(text) as Deed);
  }

  wake(token: RunToken): void {
    this.session = String(token.state.session);
    this.pending = JSON.parse(String(token.state.pending)) as Extract<Deed, { do: "act" }>;
    this.asks.set("ask-1", "open");
  }

  events(afterSeq: number) {
    return this.queue.events(afterSeq);
  }

  async say(text: string): Promise<"mid-turn" | "ended"> {
    if (this.isOver) return "ended";
    this.cage.heard = text;
    return "mid-turn";
  }

  async answer(ask: string, answer: RunAnswer): Promise<"taken" | "late" | "unknown"> {
    const state = this.asks.get(ask);
    if (state !== "open" || !this.pending) return state ? "late" : "unknown";
    this.asks.set(ask, "answered");
    this.emit({ type: "answered", ask, how: answer.kind });
    const allowed = answer.kind === "allow";
    if (allowed) this.cage.marks.push(this.pending.mark);
    const text = answer.kind === "deny" ? answer.reason : "done";
    this.emit({ type: "tool_result", call: "call-1", isError: !allowed, text });
    this.finish("finished", this.pending.words);
    return "taken";
  }

  async stop(): Promise<void> {
    this.finish("stopped", "");
  }

  async park(): Promise<RunToken> {
    const token = this.token();
    this.quiet();
    this.queue.end();
    return token;
  }

  async close(): Promise<void> {
    this.finish("stopped", "");
  }

  private perform(deed: Deed): void {
    switch (deed.do) {
      case "say":
        if (deed.thought) this.emit({ type: "thinking", text: deed.thought });
        this.finish("finished", deed.words);
        return;
      case "act": {
        const input = { mark: deed.mark };
        this.pending = deed;
        this.emit({ type: "tool_call", call: "call-1", name: "mark", input });
        this.asks.set("ask-1", "open");
        const about = { kind: "tool", call: "call-1", name: "mark", input, summary: "mark", editable: false } as const;
        this.emit({ type: "ask", ask: "ask-1", about, expires: null });
        return;
      }
      case "forever":
        this.emit({ type: "text", text: deed.words });
        this.cage.timers.set(
          this.run,
          setInterval(() => this.emit({ type: "text", text: "." }), 5),
        );
        return;
      case "fail":
        this.emit({ type: "error", failure: "auth", text: "The key was rejected.", hint: null });
        this.finish("failed", "");
    }
  }

  private finish(outcome: RunOutcome, words: string): void {
    if (this.isOver) return;
    this.quiet();
    for (const [ask, state] of this.asks) if (state === "open") this.emit({ type: "answered", ask, how: "withdrawn" });
    if (words) this.emit({ type: "text", text: words });
    this.emit({ type: "usage", usage: NO_USAGE, basis: "guessed", model: null });
    this.emit({ type: "done", outcome, text: words });
  }

  private quiet(): void {
    this.isOver = true;
    clearInterval(this.cage.timers.get(this.run));
    this.cage.timers.delete(this.run);
  }

  private token(): RunToken {
    return {
      runtime: "parrot",
      form: 1,
      state: { session: this.session, pending: JSON.stringify(this.pending ?? null) },
    };
  }

  private emit(body: RunEventBody): void {
    this.queue.push(body);
  }
}
