/** What a runtime's test brings along: the adapter, and how to make its runtime do something. */
import type {
  RunEvent,
  RunEventBody,
  RunPorts,
  RunRequest,
  RunSession,
  RuntimeAdapter,
  RuntimeCapabilities,
} from "../../../src/core/contracts/index.ts";
import { until } from "../../support/index.ts";

/** Prompts that make the runtime, over its scripted model, do one thing. */
export interface RuntimePrompts {
  /** Answers with exactly these words. */
  say(words: string): string;
  /** Calls a tool that needs permission and leaves this mark in the world; then answers `words`. */
  act(mark: string, words: string): string;
  /** Begins to answer with these words and goes on until it is stopped. */
  forever(words: string): string;
  /** Its model fails in a way that no repetition heals. */
  fail(): string;
  /** Thinks aloud, then answers. Only where thinking is claimed. */
  think?(thought: string, words: string): string;
}

export interface RuntimeStage {
  adapter: RuntimeAdapter;
  prompts: RuntimePrompts;
  ports(run: string): Promise<RunPorts> | RunPorts;
  workspace: RunRequest["workspace"];
  /** How often the tool of `act` left this mark. */
  marks(mark: string): number;
  /** What the run left behind: processes, timers, connections, each in words. */
  left(run: string): Promise<string[]> | string[];
  /** What the runtime's model read last, for words that were said during a run. Only where steering is claimed. */
  heard?(): string;
  close(): Promise<void>;
}

export interface RuntimeRig {
  name: string;
  open(): Promise<RuntimeStage>;
}

/** What a rig lacks for what its adapter claims, as sentences. */
export function unfit(can: RuntimeCapabilities, stage: RuntimeStage): string[] {
  const missing: string[] = [];
  if (can.thinking.proof !== "absent" && !stage.prompts.think)
    missing.push("thinking is claimed, and there is no prompt for it");
  if (can.steer.proof !== "absent" && !stage.heard)
    missing.push("steering is claimed, and nobody can say what the model read");
  return missing;
}

/** `RunPorts.confine` where nothing is around the run. */
export const unconfined: RunPorts["confine"] = async (command) => command;

let runs = 0;

export function makeRequest(stage: RuntimeStage, text: string, more: Partial<RunRequest> = {}): RunRequest {
  return {
    // Processes are found by it on the whole machine, where other tests run too.
    run: `run-${process.pid}-${++runs}`,
    attempt: 1,
    lastSeq: 0,
    agent: "main",
    prompt: { instructions: "", text },
    workspace: stage.workspace,
    model: null,
    limits: { deadline: null, quietMs: 60_000, toolCalls: null },
    resume: null,
    ...more,
  };
}

/** Reads a session in the background and keeps what came. */
export class Follower {
  readonly events: RunEvent[] = [];
  readonly ended: Promise<void>;
  private readonly session: RunSession;

  constructor(session: RunSession, afterSeq = 0) {
    this.session = session;
    this.ended = this.follow(afterSeq);
  }

  private async follow(afterSeq: number): Promise<void> {
    for await (const event of this.session.events(afterSeq)) this.events.push(event);
  }

  get bodies(): RunEventBody[] {
    return this.events.map(({ body }) => body);
  }

  get text(): string {
    return this.bodies.map((body) => (body.type === "text" ? body.text : "")).join("");
  }

  all<T extends RunEventBody["type"]>(type: T): Extract<RunEventBody, { type: T }>[] {
    return this.bodies.filter((body): body is Extract<RunEventBody, { type: T }> => body.type === type);
  }

  /** Waits for the first event of this type. */
  first<T extends RunEventBody["type"]>(type: T): Promise<Extract<RunEventBody, { type: T }>> {
    return until(`an event of type ${type}`, () => this.all(type)[0], { instead: () => this.bodies.slice(-5) });
  }
}
