import type { AgentId, PersonId, SessionKey, TurnId } from "./ids.ts";
import type { Json, JsonObject } from "./json.ts";

/** Where a reply goes. Fixed when the message is admitted (I7); nothing later may change it. */
export interface ReplyRoute {
  channel: string;
  account: string;
  chat: string;
  thread?: string;
}

/** How a message that arrives during a turn is treated. */
export type QueueMode = "steer" | "followup" | "collect" | "interrupt";

/** Interactive work goes before scheduled work, scheduled before background work. */
export type LaneClass = "interactive" | "scheduled" | "background";

/**
 * Whose rights a turn acts with (I12): the owner's; those of a person the owner knows; `outside`, something the owner set up that
 * brings text of others (a webhook, a feed); or those of a stranger, who may talk and has no part in what is the owner's.
 */
export type Authority = "owner" | "known" | "outside" | "stranger";

const TRUST: readonly Authority[] = ["stranger", "outside", "known", "owner"];

/** The least trusted of them. */
export function leastTrusted(...all: readonly Authority[]): Authority {
  return TRUST[Math.min(...all.map((one) => TRUST.indexOf(one)))] ?? "stranger";
}

/** Whose words a text is: Lares' own, or somebody else's. Words from outside are data, never instructions (I12). */
export type Origin = "own" | "outside";

/** What a channel, a schedule or a face hands to the inbox. */
export interface InboundMessage {
  route: ReplyRoute;
  /** The platform's stable id of the sender; display names are never identity. */
  sender: { id: string; name?: string };
  /** The platform's id of this message, or the caller's idempotency key. Same id again is the same turn (I2). */
  platformId?: string;
  idempotencyKey?: string;
  /** What was asked with the key. The same key with another one is refused, not taken for the same message. */
  fingerprint?: string;
  text: string;
  /** What the caller asked for; without it, the routing rules decide. */
  agent?: AgentId;
  session?: SessionKey;
  mode?: QueueMode;
  lane?: LaneClass;
  /** Model and limits for this turn only, e.g. a schedule's override. */
  model?: string;
  receivedAt?: number;
  /** Who speaks: a person, or something that happened. Events never pose as a person. */
  origin?: "person" | "event";
  /** Whether this sender may answer approvals: the right follows the action, not the door (AU-07). */
  mayApprove?: boolean;
  /** Whose rights its turn acts with; without a word, a stranger's. */
  authority?: Authority;
  /** It carries text from outside although its sender is known: what a program printed, what a sub-agent read (I12). */
  outside?: boolean;
  /** What the caller brings for this turn. */
  given?: Given;
  /** The only tools its turn may use, e.g. in a group; without a word, the agent's. */
  tools?: readonly string[];
  /** It was written where several people can read it. */
  isGroup?: boolean;
  /** On what terms its turn is run, when nobody waits for it. */
  terms?: Terms;
  /** The turn whose message this one takes the place of: it and what followed leave the conversation. */
  replaces?: TurnId;
  /** Where a person typed it, when it came in by a door that programs use too. */
  face?: "terminal" | "page" | "editor";
  /** Its session was made for this one call: it is deleted some time after its last use. */
  brief?: boolean;
  /** Files uploaded before, by id, and which principal brings them. */
  attachments?: { ids: readonly string[]; by: string };
  /** What its envelope says beside time and speaker. */
  about?: About;
  /** More that happened, told in the same message: each begins with a line of Lares' own. */
  more?: readonly Happening[];
}

/** What a message is about that nobody wrote. */
export type EventKind =
  | "process"
  | "child"
  | "peer"
  | "hook"
  | "watch"
  | "wake"
  | "goal"
  | "board"
  | "schedule"
  | "heartbeat"
  | "task"
  | "team"
  | "approval"
  | "wait"
  | "results";

/** What happened, in our words: for people a field of the message, for models a part of the line before it. Never in the text. */
export interface EventLabel {
  kind: EventKind;
  text: string;
  /** What it concerns: the tool of a call, the name of a job. */
  of?: string;
  /** Of a job: it runs this one time, as a reminder does. */
  once?: true;
}

export interface Happening {
  label: EventLabel;
  at: number;
  text: string;
  /** The text is somebody's: the line before it says that it is no instruction. */
  isMaterial?: boolean;
}

/** A recording that nobody has put into words, or the words a program heard in it. */
export type Voice = "recorded" | "transcribed";

/** How a message came to be, as the platform or the room that sends it knows it. */
export interface About {
  /** When it was said, where the platform tells. */
  saidAt?: number;
  /** What happened, when nobody speaks. */
  label?: EventLabel;
  /** The text is somebody's whom nobody asked: the line before it says that it is no instruction. */
  isMaterial?: boolean;
  /** Whose clock is meant, where it is not the speaker's: an IANA name. */
  zone?: string;
  /** The group's title; for people, never identity. */
  title?: string;
  isEdited?: boolean;
  /** Whose words were passed on; true when the platform does not say. */
  forwardedFrom?: string | true;
  /** What it answers. */
  answers?: { name?: string; text: string };
  /** Said aloud. */
  voice?: Voice;
  /** Files that came with it and could not be fetched, with the reason. */
  lost?: readonly { name: string; why: string }[];
}

/** The terms of a turn nobody waits for: a job's, a heartbeat's. */
export interface Terms {
  /** The job that caused it: what it spends counts there. */
  job?: string;
  /** What that job may use in a day. */
  budget?: { dollars?: number; tokens?: number; calls?: number };
  thinking?: "off" | "low" | "medium" | "high";
  /** Longest working time; waiting for a person does not count. */
  timeoutMs?: number;
  /** A command that must end well before anything else is done; else the turn ends silent, with the reason. */
  condition?: string;
  /** Instead of a model: this command, through the gate. What it prints is the answer; nothing means silence. */
  script?: string;
  /** What the turn leaves for its cause to deliver: its failures, or all of its answers. */
  keeps?: "failures" | "all";
}

/**
 * What a caller brings along for one turn: a conversation it keeps itself, and tools it runs itself. With `tools` ours are
 * not offered, and a call of one ends the turn: its outcome comes back with the caller's next message.
 */
export interface Given {
  /** Put behind the agent's own instructions. */
  instructions?: string;
  /** What was said before, as the caller has it. Goes before the session's own history. */
  history?: ModelMessage[];
  /** Outcomes of the calls the last answer asked for. They enter the session's history. */
  results?: ToolResultPart[];
  tools?: { name: string; description: string; input: JsonObject }[];
  /** Offered beside ours: calling one ends the turn. Its input's `text` is the answer. One that requires no field ends the turn silent. */
  finish?: { name: string; description: string; input: JsonObject }[];
  /** True: the message's text is a label for people and not said to the model; `results` are what is new. */
  silent?: boolean;
  /** How the answer is to be made. */
  settings?: AnswerSettings;
}

/** How a caller wants the answer made. What is left out is the model's own default. */
export interface AnswerSettings {
  maxOutputTokens?: number;
  temperature?: number;
  topP?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  seed?: number;
  /** The answer ends before the first of these. */
  stop?: string[];
  /** One JSON object; with a schema, one that fits it. */
  format?: { name?: string; description?: string; schema?: JsonObject; strict?: boolean };
  /** Whether one of the tools must be called (any of them, or the named one), or none may be. */
  toolChoice?: "required" | "none" | { tool: string };
  /** False: at most one tool call in each answer of the model. */
  parallelToolCalls?: boolean;
  thinking?: "off" | "low" | "medium" | "high";
}

export type ToolCallPart = { type: "tool-call"; id: string; name: string; input: Json };
export type ToolResultPart = {
  type: "tool-result";
  id: string;
  name: string;
  text: string;
  isError?: boolean;
  /** Pictures that came with it, for models that see. */
  images?: ImagePart[];
  /** Why nothing ran. For people's faces, which read no words of ours; models read the text. */
  notRun?: NotRun;
  /** What a command exited with. */
  exit?: number;
};
/** `waiting` for a person, `refused` by the gate, `denied` by a person, by nobody answering in time, or by a stop meanwhile. */
export type NotRun = "waiting" | "refused" | "denied";
/**
 * `file`: the text stands for an attached file, as the person did not type it. `ours`: Lares' own line before a message (its
 * envelope), for models only: it is not shown, searched, captured or made a title of. `label`: what such a line says happened, as
 * a field, so that people can be shown it without reading our words.
 */
export type TextPart = {
  type: "text";
  text: string;
  file?: AttachedFile;
  /** The file's text is read when a model request needs it; until then `text` only names it. */
  unread?: true;
  ours?: true;
  label?: EventLabel;
};
/** A picture by reference; its bytes are read when a model is asked. */
export type ImagePart = { type: "image"; attachment: string; mediaType: string; name: string; path?: string };
export interface AttachedFile {
  attachment: string;
  mediaType: string;
  name: string;
  bytes: number;
  /** Below the agent's workspace, where it lies there as a file. */
  path?: string;
}
/** Somebody's own words: not the text of a file, nor a line of Lares'. */
export function isWritten(part: TextPart): boolean {
  return part.file === undefined && part.ours !== true;
}

/** What a message says happened, when nobody wrote it. */
export function findLabel(content: ModelMessage["content"]): EventLabel | undefined {
  for (const part of content) if (part.type === "text" && part.label) return part.label;
  return undefined;
}

/** The files among a message's parts, as one shows them: pictures without their size, which the part does not carry. */
export function listFiles(
  parts: readonly (TextPart | ImagePart)[],
): (Omit<AttachedFile, "bytes"> & { bytes?: number })[] {
  return parts.flatMap((part) => {
    if (part.type === "text") return part.file ? [part.file] : [];
    const { type: _image, ...file } = part;
    return [file];
  });
}
/** Reasoning as the provider gave it; `meta` carries signatures that must come back byte-identical. */
export type ThinkingPart = { type: "thinking"; text: string; meta?: JsonObject };

export type Role = "user" | "assistant" | "tool";

/** One message as the model sees it. The history is a list of these. */
export type ModelMessage =
  | { role: "user"; content: (TextPart | ImagePart)[] }
  | { role: "assistant"; content: (TextPart | ThinkingPart | ToolCallPart)[] }
  | { role: "tool"; content: ToolResultPart[] };

/** A message in a session's history, as people look at it. */
export interface HistoryEntry {
  session: SessionKey;
  seq: number;
  id: string;
  turn: TurnId;
  role: Role;
  content: ModelMessage["content"];
  person?: PersonId;
  at: number;
  meta?: JsonObject;
  /** The turn of the message that took its place, or that of something before it: models no longer see it. */
  replacedBy?: TurnId;
  /** People had it forgotten: models no longer see it. */
  forgotten?: true;
}

/** Channels that are asked for answers instead of being sent them: there is nothing to set up. */
export const PULLED: ReadonlySet<string> = new Set(["http", "ws", "a2a", "none"]);

const UNSEEN = /^[\s\p{Cc}\p{Cf}\p{Z}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]*$/u;

/**
 * Whether a text says anything. Blanks, controls and characters that nobody sees (zero-width spaces, soft hyphens, fillers, the
 * Braille cell without dots) say nothing: what a person can't read isn't a message.
 */
export function hasWords(text: string): boolean {
  return !UNSEEN.test(text);
}
