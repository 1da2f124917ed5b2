/** What a turn carries from call to call, and across a park. Plain data with a version: it may wake after an upgrade. */
import type { HookNote } from "../../core/contracts/index.ts";
import type { ApprovalId, Authority, Danger, Json, QuestionForm, RunsWhere, Usage } from "../../core/domain/index.ts";
import { NO_USAGE } from "../../core/domain/index.ts";
import type { BoundParts } from "./approval-hash.ts";

/** Raised when a parked turn of an older version could no longer be understood. */
export const PROGRESS_VERSION = 1;

/** A tool call that waits for a person. */
export type WaitingCall = {
  approval: ApprovalId;
  callId: string;
  tool: string;
  input: Json;
  /** Of the plan that was shown; what runs must still have it. */
  hash: string;
  /** What the hash is made of. Absent in what was parked by an older version. */
  bound?: BoundParts;
  shown: string;
  /** Parts of `shown` that stay visible wherever it is shortened. */
  marks?: string[];
  /** What is risky about it, the worst first. */
  dangers?: Danger[];
  /** All of it, where `shown` leaves some out. */
  whole?: string;
  where?: RunsWhere;
  deadline: number;
  /** The message with its interim result. Absent in what was parked by an older version. */
  results?: string;
  /** Hooks are asked about its result. */
  heard?: true;
  /** It ran, and its far side asks a person something before it goes on. `round`: how many questions it has asked. */
  asks?: { form: QuestionForm; state: Json; round: number };
};

/** A call that waits, with why it is asked about and the rule "allow always" would keep. */
export type AskedCall = WaitingCall & { because: string; rule: string };

/** A tool call whose outcome is waited for: something that ends by itself, or a time. */
export type Pause = {
  callId: string;
  tool: string;
  input: Json;
  on: string;
  deadline: number;
  results?: string;
  /** Of the plan that ran: a question on the way is bound to it. Absent in what was parked by an older version. */
  hash?: string;
  /** Hooks are asked about its result. */
  heard?: true;
};

export type Progress = {
  /** Number of the next model call. */
  call: number;
  toolCalls: number;
  usage: Usage;
  notices: string[];
  startedAt: number;
  activeMs: number;
  badInputs: number;
  empty: number;
  /** Requests that did not fit, one after another, and in all. */
  overflows: number;
  rooms?: number;
  /** The newest identical call and how often it gave the same. */
  last: { print: string; count: number } | null;
  /** The next call gets no tools: the agent must answer. */
  forced: boolean;
  /** The cap that was reached: the next call is the last one, for a word about where things stand. */
  closing?: string;
  tookOwn: boolean;
  /** The least trusted of those whose messages this turn took. */
  authority: Authority;
  /** What the owner wrote in this turn, as far as it is kept for the gate. */
  said?: string;
  /** Text from outside was in a request of this turn. */
  tainted: boolean;
  /** None of it was sent in: the agent's own tools fetched it. Absent in what was parked before this was known. */
  isFetched?: boolean;
  model: string | null;
  practice: boolean;
  waiting: WaitingCall[];
  /** Its condition said yes. */
  passed?: boolean;
  /** Absent in what was parked before there were any. */
  pauses?: Pause[];
  /** The only tools that hooks left. */
  narrowed?: string[];
  /** A hook asked for one more pass, which is granted once. */
  again?: boolean;
  /** What hooks want the next request to say. */
  notes?: HookNote[];
  /** Of a turn that another runtime carries out. */
  run?: RunProgress;
};

export type RunProgress = {
  /** Number of the next stretch. */
  n: number;
  /** What the runtime was asked to do. */
  text: string;
  /** Hooks are asked about the answer. */
  heard?: true;
  /** The git repository that it is about, in whose worktree it works. */
  repository?: string;
  /** The question that a person is asked, by the runtime's own name for it. `attempt`: who asks. */
  asking?: { ask: string; attempt: number; about: string /** A call of a tool of ours. */; own?: true };
  /** What a person allowed, by its hash: an attempt that died may not have heard it, and the next one asks again. */
  granted: { hash: string; attempt: number }[];
};

export function newProgress(now: number): Progress {
  return {
    call: 0,
    toolCalls: 0,
    usage: NO_USAGE,
    notices: [],
    startedAt: now,
    activeMs: 0,
    badInputs: 0,
    empty: 0,
    overflows: 0,
    last: null,
    forced: false,
    tookOwn: false,
    authority: "owner",
    tainted: false,
    isFetched: true,
    model: null,
    practice: false,
    waiting: [],
  };
}
