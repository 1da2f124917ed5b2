/**
 * Hooks: programs of the owner's that look on while Lares works, and may narrow what it does. A plugin's child process, a command
 * and a webhook are all hook sources.
 *
 * - A hook only narrows. It can deny, ask a person, add notes, leave out tools, shorten results and ask for one more pass. There is
 *   no answer that allows something, raises rights, or changes arguments, instructions or history; a field that would is ignored and
 *   reported.
 * - An answer is part of a recorded step, so a replay uses the recorded answer and never asks again.
 * - A source that fails, answers late or isn't there answers as its `onFail` says: gates deny unless the owner chose otherwise.
 * - An observed event is delivered at least once, in order per source and with the same id each time, and no turn waits for it.
 */
import { z } from "zod";
import type { HookEventName } from "../domain/hook-events.ts";
import type { Json } from "../domain/json.ts";
import type { Tx } from "./records.ts";

const MOST_REASON = 500;
const MOST_NOTE = 20_000;
const MOST_NAMES = 200;
const MOST_REMOVED = 50;

const reason = z.string().trim().min(1).max(MOST_REASON);
const note = z.string().trim().min(1).max(MOST_NOTE);

/** Everything a hook may say. Which fields count depends on the event (`may` in HOOK_EVENTS). */
export const hookAnswer = z.object({
  /** Not like this, and why. People and the model read the reason. */
  deny: reason.optional(),
  /** A person has to decide, and why. */
  ask: reason.optional(),
  /** Text for the model, marked with the hook's name and treated as text from outside. */
  notes: z.array(note).max(20).optional(),
  /** Of the tools the turn has, only these may be called. */
  tools: z.array(z.string().min(1).max(128)).max(MOST_NAMES).optional(),
  /** How much of a result stays. Nothing can be put in: only its ends are kept, and texts taken out. */
  shorten: z
    .object({
      /** Characters kept from the beginning. */
      head: z.number().int().min(0).optional(),
      /** Characters kept from the end. */
      tail: z.number().int().min(0).optional(),
      /** Texts to take out wherever they occur. */
      remove: z.array(z.string().min(3).max(2000)).max(MOST_REMOVED).optional(),
    })
    .optional(),
  /** The answer isn't good enough: the model gets one more pass, with this as the reason. */
  again: reason.optional(),
});
export type HookAnswer = z.output<typeof hookAnswer>;
export type HookAnswerField = keyof HookAnswer;

export interface HookNote {
  /** The hook that wrote it. */
  by: string;
  /** Its words: text from outside. */
  text: string;
}

/** What the hooks of an event said together. Plain data, recorded with the step that asked; nothing in it can allow anything. */
export type HookOutcome = {
  /** Why not, in sentences that name the hooks. */
  deny?: string;
  /** Why a person has to decide. Never together with `deny`. */
  ask?: string;
  notes?: HookNote[];
  /** Only these tools. An empty list: none. */
  tools?: string[];
  shorten?: { head?: number; tail?: number; remove?: string[] };
  /** Why one more pass is wanted. Never together with `deny`. */
  again?: HookNote;
  /** Sources that failed, in sentences for people. */
  failed?: string[];
};

/** For rooms in which things happen that hooks observe. */
export interface HookLog {
  /** Whether anybody observes this event, for what would need a separate look or write. */
  observes(event: HookEventName): boolean;
  /** Written with what happened, when somebody observes it; otherwise `facts` isn't even called. Idempotent per event and key. */
  record<E extends HookEventName>(tx: Tx, event: E, key: string, facts: () => HookFacts<E>): void;
}

/** Nobody observes anything. */
export const noHooks: HookLog = { observes: () => false, record() {} };

/** `observe`: called afterwards, the answer doesn't matter. `answer`: the turn waits for the answer. */
export type HookMode = "observe" | "answer";
/** What a failed call counts as. */
export type HookOnFail = "deny" | "pass";

const text = z.string();
/** Of everything that happens in a turn. */
const inTurn = { agent: text, session: text, turn: text };
const call = { call: text, tool: text, input: z.custom<Json>((value) => value !== undefined) };

interface EventRule {
  /** How a source can listen; the first is the usual way. */
  modes: readonly [HookMode, ...HookMode[]];
  /** What an answer may say. Empty: it is only observed. */
  may: readonly HookAnswerField[];
  /** What a failure counts as unless the owner says otherwise: gates fail closed. */
  onFail: HookOnFail;
  /** What the source gets, beside `event`, `id` and `at`. */
  payload: z.ZodObject;
}

const OBSERVED = { modes: ["observe"], may: [], onFail: "pass" } as const;
const GATE = { modes: ["answer"], onFail: "deny" } as const;

/** All events there are. A name never changes its meaning; payloads only ever gain fields. */
export const HOOK_EVENTS = {
  /** A message was accepted. */
  "message.received": {
    ...OBSERVED,
    payload: z.object({ ...inTurn, channel: text, chat: text, sender: text, text }),
  },
  /** Its turn began, or went on after it was parked (`segment` above 0). */
  "turn.started": { ...OBSERVED, payload: z.object({ ...inTurn, segment: z.number() }) },
  /** The model is about to read new messages: a hook may add notes, leave out tools, or decline the turn. */
  "context.building": {
    modes: ["answer"],
    may: ["notes", "tools", "deny"],
    onFail: "pass",
    payload: z.object({ ...inTurn, text, first: z.boolean(), authority: text }),
  },
  "model.called": {
    ...OBSERVED,
    payload: z.object({
      ...inTurn,
      call: z.number(),
      model: text,
      ok: z.boolean(),
      inputTokens: z.number(),
      outputTokens: z.number(),
      cost: z.number().nullable(),
    }),
  },
  /** The model wants to call a tool and the gate didn't refuse: a hook may deny the call or have a person decide. */
  "tool.planned": {
    ...GATE,
    may: ["deny", "ask"],
    payload: z.object({ ...inTurn, ...call, risk: text, shown: text, verdict: z.enum(["allow", "ask"]) }),
  },
  /** A tool answered: a hook may shorten what the model reads, and add notes. */
  "tool.finished": {
    modes: ["observe", "answer"],
    may: ["shorten", "notes"],
    onFail: "pass",
    payload: z.object({ ...inTurn, ...call, text, isError: z.boolean() }),
  },
  /** The model answered: a hook may ask for one more pass, once a turn, or hold the answer back. */
  "answer.ready": {
    ...GATE,
    may: ["again", "deny"],
    payload: z.object({ ...inTurn, text, pass: z.number() }),
  },
  "turn.ended": {
    ...OBSERVED,
    payload: z.object({ ...inTurn, state: text, text, reason: text.optional(), toolCalls: z.number() }),
  },
  /** A delivery was confirmed by its platform. */
  "message.sent": {
    ...OBSERVED,
    payload: z.object({ session: text, turn: text, channel: text, chat: text, text }),
  },
  "session.opened": { ...OBSERVED, payload: z.object({ agent: text, session: text }) },
  "session.closed": { ...OBSERVED, payload: z.object({ session: text, how: z.enum(["reset", "deleted"]) }) },
  "compaction.done": { ...OBSERVED, payload: z.object({ agent: text, session: text, messages: z.number() }) },
  "approval.changed": {
    ...OBSERVED,
    payload: z.object({ session: text, turn: text, approval: text, state: text, shown: text, by: text.optional() }),
  },
  "schedule.fired": { ...OBSERVED, payload: z.object({ schedule: text, session: text, turn: text }) },
  /** A skill or a plugin lies in quarantine, scanned and not yet installed. */
  "install.staged": {
    ...GATE,
    may: ["deny"],
    payload: z.object({
      what: z.enum(["skill", "plugin"]),
      name: text,
      source: text,
      digest: text,
      findings: z.array(text),
    }),
  },
  /** An agent proposes a new or changed skill. A person still decides; a hook may refuse it first, or add notes for that person. */
  "skill.proposed": {
    modes: ["answer"],
    may: ["deny", "notes"],
    onFail: "deny",
    payload: z.object({ agent: text, session: text, turn: text, name: text, text }),
  },
} as const satisfies Readonly<Record<HookEventName, EventRule>>;

/** What happened, without what every payload has. */
export type HookFacts<E extends HookEventName = HookEventName> = z.output<(typeof HOOK_EVENTS)[E]["payload"]>;

/** What a source is called with. `id` is the same when an event is delivered again. */
export type HookPayload<E extends HookEventName = HookEventName> = {
  event: E;
  id: string;
  at: number;
} & HookFacts<E>;

export interface HookSubscription {
  /** One of HOOK_EVENTS. */
  event: HookEventName;
  /** The event's usual mode unless given. */
  mode?: HookMode;
  /** The event's own unless given. Only the owner may choose `pass` for a gate, never the source itself. */
  onFail?: HookOnFail;
  /** How long an answer may take; 5 seconds unless given, at most a minute. */
  timeoutMs?: number;
}

/** It heard the event and failed at it: reported like every failure, but an observed event isn't delivered again. */
export class FailedHook extends Error {}

export interface HookSource {
  /** Unique, and what people read: `plugin:sky`, `command:PreToolUse:1`, `webhook:audit`. */
  readonly name: string;
  /** What people recognise it by: a command's text, a webhook's address, what a plugin is for. */
  readonly shown?: string;
  /** What it wants to hear about, and how. Doesn't change while it is registered. */
  readonly events: readonly HookSubscription[];
  /** Why an event doesn't concern it, such as a tool that it doesn't match. It isn't called for that event then. */
  skips?(payload: HookPayload): string | undefined;
  /**
   * Asks or informs the source. Returns its answer as it came (parsed JSON, or undefined for none); nobody has to check it here.
   * Throws when the source failed or isn't there. Obeys `signal` and leaves nothing running when it aborts. For an observed event,
   * returning means that it was taken: it isn't delivered again. So does throwing `FailedHook`.
   */
  call(event: HookEventName, payload: HookPayload, signal: AbortSignal): Promise<unknown>;
}

/**
 * Where sources are added and removed while Lares runs. A source whose program is down stays registered and throws, so that its
 * gates deny; it is removed when the owner disables it. Sources known at the start are added before the first turn runs.
 */
export interface HookRegistry {
  /** Throws CONFIG_INVALID for a name that is taken, or an event or mode that doesn't exist. Returns what removes it again. */
  add(source: HookSource): () => void;
  /** Those registered now, in the order they were added. */
  list(): readonly HookSource[];
}
