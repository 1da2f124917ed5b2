/**
 * Every composed key in the program: which pieces it has, in which order, and how it is read again. Databases hold these strings, and so
 * do the keys that clients send: their bytes never change. Other code names what it means and never writes or takes apart a piece itself
 * (the architecture test looks).
 *
 * | key        | names                                  | made by              |
 * | ---------- | -------------------------------------- | -------------------- |
 * | session    | a conversation, and the lanes beside it | `sessionKeys`         |
 * | accept id  | what was asked, so that the same is done once | `acceptIds`, `idempotencyKeys`, `eventKeys` |
 * | message id | a line of a conversation's history     | `messageIds`          |
 * | answer id  | something a turn says on a channel     | `answerIds`           |
 * | scope      | an agent, a team, a person as the owner of something | `scopeKeys` |
 * | attention id | something that needs a person        | `attentionIds`        |
 *
 * Beside it lie the names of steps (`step-names.ts`), keys of work (`work-keys.ts`) and of people and sources (`origin-keys.ts`).
 *
 * A reader returns what its maker was given, or nothing for a key of another shape. There is none where nobody reads: ids of platforms
 * contain colons themselves, so an accept id can be compared and found by its beginning, not taken apart.
 */
import { type ApprovalId, asId, type DeliveryId, type ScheduleId, type SessionKey, type TurnId } from "./ids.ts";

/** An account of Lares on a platform. */
export interface AccountKey {
  channel: string;
  account: string;
}

// ── accounts ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** As people and settings name it: `telegram/main`. Neither part has a slash in it. */
export function toAccountName({ channel, account }: AccountKey): string {
  return `${channel}/${account}`;
}

/** A chat on an account, as a target that rules are written for. */
export function toChatName(at: AccountKey & { chat: string }): string {
  return `${toAccountName(at)}/${at.chat}`;
}

export function readAccountName(name: string): AccountKey | undefined {
  const [, channel, account] = /^([^/]+)\/([^/]+)$/.exec(name) ?? [];
  return channel === undefined || account === undefined ? undefined : { channel, account };
}

// ── sessions ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** What the keys of a kind begin with, for queries. */
export const SESSION_PREFIX = { agent: "agent:", child: "sub:", job: "cron:", goal: "goal:", task: "task:" } as const;
const RUN = ":run:";
const EDITOR = "editor";
const TEAM = "team";
/** What the keys of editors' sessions contain, and no others. */
export const EDITOR_MARK = `:${EDITOR}:/`;

export const sessionKeys = {
  /** An agent's own conversation, the one that is called "main". */
  main: (agent: string) => asId<SessionKey>(`agent:${agent}:main`),
  /** A conversation by where it is held. What separates the parts is escaped, so no chat id can pose as another session. */
  at: (agent: string, ...parts: readonly string[]) =>
    asId<SessionKey>(["agent", agent, ...parts].map(escapePart).join(":")),
  /** One that was begun on the page. */
  web: (agent: string, name: string) => asId<SessionKey>(`agent:${agent}:web:${name}`),
  /** One of an editor, in the folder it works in (a real path). The folder stays the same for the life of the conversation. */
  editor: (agent: string, folder: string, id: string) =>
    asId<SessionKey>(["agent", agent, EDITOR, folder, id].map(escapePart).join(":")),
  /** A member's side of its team's room. */
  team: (agent: string, team: string) => asId<SessionKey>(["agent", agent, TEAM, team].map(escapePart).join(":")),
  /** One that was brought from another program. */
  imported: (agent: string, from: string, id: string) => asId<SessionKey>(`agent:${agent}:import:${from}:${id}`),
  /** A sub-agent's. `mark` distinguishes the children of one session. */
  child: (parent: string, mark: string) => asId<SessionKey>(`sub:${parent}:${mark}`),
  /** Where a job's slots are decided on; nobody talks there. */
  job: (job: string) => asId<SessionKey>(`cron:${job}`),
  /** One run of a job. */
  run: (job: string, due: number) => asId<SessionKey>(`cron:${job}${RUN}${due}`),
  goal: (goal: string) => asId<SessionKey>(`goal:${goal}`),
  /** One attempt at a task of the board; a check or a review of it beside it. */
  attempt: (task: string, attempt: number) => asId<SessionKey>(`task:${task}${RUN}${attempt}`),
  taskCheck: (task: string, attempt: number) => asId<SessionKey>(`task:${task}:check:${attempt}`),
  taskReview: (task: string, attempt: number) => asId<SessionKey>(`task:${task}:review:${attempt}`),
  hook: (hook: string, print: string) => asId<SessionKey>(`hook:${hook}:${print}`),
  watch: (watch: string, print: string) => asId<SessionKey>(`watch:${watch}:${print}`),
  /** Where a goal's next step, a sub-agent's deadline and an agent's nightly tidying up wait for their time; nobody talks there. */
  goalTimer: (goal: string) => asId<SessionKey>(`judge:${goal}`),
  childTimer: (turn: string) => asId<SessionKey>(`child:${turn}`),
  night: (agent: string) => asId<SessionKey>(`memory:${agent}`),
} as const;

/** Timers, each of which exists once. */
export const timerIds = {
  goal: (goal: string) => asId<ScheduleId>(`goal:${goal}`),
  child: (turn: string) => asId<ScheduleId>(`child:${turn}`),
  night: (agent: string) => asId<ScheduleId>(`memory-night:${agent}`),
} as const;

/** The agent and the parts behind it, still escaped: two spellings of a part are two sessions. */
export function readAgentSession(key: string): { agent: string; parts: string[] } | undefined {
  const [kind, agent, ...parts] = key.split(":");
  return kind === "agent" && agent !== undefined ? { agent, parts } : undefined;
}

/** Where a conversation is held: a channel, `web`, or the name it has; a sub-agent's is held where its asker's is. */
export function readSessionPlace(key: string): string | undefined {
  return readAgentSession(topSession(key))?.parts[0];
}

/** Whose conversation it is, when it is an agent's own. */
export function agentInSession(key: string): string | undefined {
  const read = readAgentSession(key);
  return read?.agent && read.parts.length > 0 ? read.agent : undefined;
}

/** What the keys of all sessions begin with that an agent has with this account; nothing when this is none of them. */
export function accountPrefix(key: string, { channel, account }: AccountKey): string | undefined {
  const mark = `:${channel}:${account}:`;
  const at = key.indexOf(mark);
  return at < 0 ? undefined : key.slice(0, at + mark.length);
}

/** A conversation with an agent: not a job's run, not a sub-agent's work. */
export function isAgentSession(key: string): boolean {
  return key.startsWith(SESSION_PREFIX.agent);
}

export function isChildSession(key: string): boolean {
  return key.startsWith(SESSION_PREFIX.child);
}

export function readChildSession(key: string): { parent: string; mark: string } | undefined {
  const end = key.lastIndexOf(":");
  if (!isChildSession(key) || end < SESSION_PREFIX.child.length) return undefined;
  return { parent: key.slice(SESSION_PREFIX.child.length, end), mark: key.slice(end + 1) };
}

/** Whether it was made for a sub-agent of this session. */
export function isChildOf(key: string, parent: string): boolean {
  return key.startsWith(sessionKeys.child(parent, ""));
}

/** An attempt at a task of the board, its check or its review. */
export function isTaskSession(key: string): boolean {
  return key.startsWith(SESSION_PREFIX.task);
}

export function readRunSession(key: string): { job: string; due: number } | undefined {
  if (!key.startsWith(SESSION_PREFIX.job)) return undefined;
  const end = key.indexOf(":", SESSION_PREFIX.job.length);
  const job = key.slice(SESSION_PREFIX.job.length, end);
  return end > 0 && job !== "" && key.startsWith(RUN, end)
    ? { job, due: Number(key.slice(end + RUN.length)) }
    : undefined;
}

/** A session of one task, a sub-agent's or a job's: its final text ends it, so nothing it leaves running reports to anybody. */
export function isSingleTask(key: string): boolean {
  return isChildSession(key) || readRunSession(key) !== undefined;
}

/** The job a session works for: it is a run of it, or a sub-agent's of such a run. */
export function jobBehindSession(key: string): string | undefined {
  return readRunSession(topSession(key))?.job;
}

/** Of an editor's session, and of its sub-agents': the folder it works in. */
export function readEditorSession(key: string): { agent: string; folder: string; id: string } | undefined {
  const { agent, parts } = readAgentSession(topSession(key)) ?? {};
  const [place, folder, id] = parts ?? [];
  if (agent === undefined || place !== EDITOR || folder === undefined || id === undefined || parts?.length !== 3)
    return undefined;
  return { agent, folder: unescapePart(folder), id: unescapePart(id) };
}

/** Of a member's session in its team's room: whose it is, and which team's. Sub-agents of it aren't in the room. */
export function readTeamSession(key: string): { agent: string; team: string } | undefined {
  const { agent, parts } = readAgentSession(key) ?? {};
  const [place, team] = parts ?? [];
  return agent !== undefined && place === TEAM && team !== undefined && parts?.length === 2
    ? { agent, team: unescapePart(team) }
    : undefined;
}

/** Itself, or for a sub-agent's the session that the first of them was asked for from. */
function topSession(key: string): string {
  let top = key;
  for (let read = readChildSession(top); read; read = readChildSession(top)) top = read.parent;
  return top;
}

/** Keys of all runs of a job lie from `from` up to, but without, `to`. */
export function runSessionRange(job: string): { from: string; to: string } {
  return { from: `cron:${job}:run:`, to: `cron:${job}:run;` };
}

/** Whether it could be a part of a key as `sessionKeys.at` writes it. */
export function isEscapedPart(part: string): boolean {
  return /^[^%:#\s]*(?:%[0-9A-F]{2}[^%:#\s]*)*$/.test(part);
}

function escapePart(part: string): string {
  return part.replace(/[%:#\s]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
}

function unescapePart(part: string): string {
  return part.replace(/%([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

// ── lanes beside a session ──────────────────────────────────────────────────────────────────────────────────────────

const COMMAND = "#command";
const COMPACT = "#compact";

/** Commands don't wait for the turn that runs in the session. */
export function commandLane(session: string): SessionKey {
  return asId(`${session}${COMMAND}`);
}

export function compactLane(session: string): SessionKey {
  return asId(`${session}${COMPACT}`);
}

/** The session a turn belongs to: its lane, unless that is the one for commands. */
export function withoutCommandLane(lane: string): SessionKey {
  return asId(lane.endsWith(COMMAND) ? lane.slice(0, -COMMAND.length) : lane);
}

export function withoutCompactLane(lane: string): SessionKey {
  return asId(lane.endsWith(COMPACT) ? lane.slice(0, -COMPACT.length) : lane);
}

// ── what was asked ──────────────────────────────────────────────────────────────────────────────────────────────────

/** The id by which the engine recognises a message, forever. */
export const acceptIds = {
  /** A platform's message. */
  message: ({ channel, account, chat }: AccountKey & { chat: string }, message: string) =>
    `msg:${channel}:${account}:${chat}:${message}`,
  /** A request with a key of the caller's. */
  idempotent: ({ channel, account }: AccountKey, key: string) => `key:${channel}:${account}:${key}`,
  /** What the ids of all requests of an account begin with. */
  allIdempotent: ({ channel, account }: AccountKey) => `key:${channel}:${account}:`,
  /** What the ids of all messages of an account begin with. */
  allMessages: ({ channel, account }: AccountKey) => `msg:${channel}:${account}:`,
  /** A timer that is due. */
  timer: (id: string, due: number) => `schedule:${id}:${due}`,
  /** A compaction of what is between two places of a session. */
  compaction: (session: string, from: number, to: number, at: number) => `compact:${session}:${from}:${to}:${at}`,
  /** What takes its place when an account is forgotten: nothing that comes later is the same. */
  forgotten: (turn: string) => `forgotten:${turn}`,
} as const;

/** Platforms name an edit after its message (`ID:…`): the ids of all edits lie between `from` and `to`, neither included. */
export function editKeyRange(acceptedAs: string): { from: string; to: string } {
  return { from: `${acceptedAs}:`, to: `${acceptedAs};` };
}

/** Keys under which rooms ask the inbox, so that asking twice is asking once. */
export const idempotencyKeys = {
  slot: (job: string, due: number) => `slot:${job}:${due}`,
  spawn: (call: string) => `spawn:${call}`,
  send: (call: string) => `send:${call}`,
  /** Asks a sub-agent to answer again. */
  correct: (turn: string) => `fix:${turn}`,
  goal: (goal: string, round: number) => `goal:${goal}:${round}`,
  /** One attempt at a task, and the tries to check and to review it. */
  attempt: (task: string, attempt: number) => `task:${task}:${attempt}`,
  taskCheck: (task: string, attempt: number, n: number) => `task:${task}:${attempt}:check:${n}`,
  taskReview: (task: string, attempt: number, n: number) => `task:${task}:${attempt}:review:${n}`,
  /** A member is asked about everything in its team's room up to a post. */
  team: (team: string, member: string, upTo: number) => `team:${team}:${member}:${upTo}`,
  /** Without a key of the caller's two calls are two snoozes, so the moment tells them apart. */
  snooze: (principal: string, at: number) => `${principal} ${at}`,
  /** A command in a chat: a platform may repeat the message. */
  command: (session: string, said: string) => `${session}:${said}`,
} as const;

export function isSpawnKey(key: string): boolean {
  return key.startsWith("spawn:");
}

/** Keys of system events: each is reported once. */
export const eventKeys = {
  hook: (hook: string, print: string) => `hook:${hook}:${print}` as const,
  watch: (watch: string, about: string, item: string) => `watch:${watch}:${about}:${item}` as const,
  wake: (principal: string, key: string) => `wake:${principal}:${key}`,
  process: (process: string) => `process:${process}`,
  /** What a peer says about a task. */
  peer: (of: string) => `peer:${of}`,
  /** The end of a sub-agent, and that it seems to be stuck. */
  child: (turn: string) => `child:${turn}`,
  stalled: (turn: string) => `stall:${turn}`,
  /** A task came into a state at a time: who asked for it, or waits for it, hears of that once. */
  task: (task: string, change: number) => `task:${task}:${change}`,
  /** It has waited for long, for the n-th time. */
  taskWaits: (task: string, change: number, n: number) => `task:${task}:${change}:${n}`,
} as const;

/** Keys of posts in a team's room: each is written once. */
export const postKeys = {
  /** A message in the chat that is the room. */
  turn: (turn: string) => `turn:${turn}`,
  /** What a member's turn answered. */
  answer: (turn: string) => `answer:${turn}`,
  /** One that a caller or a tool call wrote. */
  given: (by: string, key: string) => `given:${by}:${key}`,
  /** What Lares says itself: an exchange was stopped or reached its limit, a member is gone. */
  stop: (team: string, at: number) => `stop:${team}:${at}`,
  end: (team: string, after: number) => `end:${team}:${after}`,
  gone: (team: string, member: string, after: number) => `gone:${team}:${member}:${after}`,
} as const;

/** Who asked for a job, so that the same message asks for it once. */
export const creatorKeys = {
  chat: (at: AccountKey, message: string) => `chat ${toAccountName(at)} ${message}`,
} as const;

/** Our reaction to somebody's message while its turn runs, among what an account keeps: a name that no adapter can use. */
export const KEPT_SIGN_PREFIX = "#ack:";
/** What a channel wrote down before the inbox had it. */
export const SPOOL_PREFIX = "spool:";
export function spoolName(slot: number): string {
  return `${SPOOL_PREFIX}${slot}`;
}

/** A backup's id begins with its time, so that names alone say which is the newest. */
export const backupIds = {
  make: (at: number, random: string) =>
    `${new Date(at)
      .toISOString()
      .replace(/\.\d+Z$/, "Z")
      .replace(/[-:]/g, "")}-${random}`,
  readTime(id: string): number | undefined {
    const [, y, mo, d, h, mi, s] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-[0-9a-f]+$/.exec(id) ?? [];
    return y === undefined
      ? undefined
      : Date.UTC(Number(y), Number(mo) - 1, Number(d), Number(h), Number(mi), Number(s));
  },
};
export function keptSign(turn: string): string {
  return `${KEPT_SIGN_PREFIX}${turn}`;
}

/** Who or what an event or a message comes from, where it is no person. */
export const sourceKeys = {
  hook: (hook: string) => `hook:${hook}`,
  watch: (watch: string) => `watch:${watch}`,
  wake: (principal: string) => `wake:${principal}`,
  goal: (goal: string) => `goal:${goal}`,
  task: (task: string) => `task:${task}`,
  team: (team: string) => `team:${team}`,
  job: (name: string) => `schedule:${name}`,
  process: (process: string) => `process:${process}`,
  peer: (peer: string) => `peer:${peer}`,
  session: (session: string) => `session:${session}`,
} as const;

/** The job's name, where a job sends something. */
export function readJobSource(source: string): string | undefined {
  return /^schedule:(.+)$/s.exec(source)?.[1];
}

/** The session, where something comes from one. */
export function readSessionSource(source: string): string | undefined {
  return /^session:(.+)$/s.exec(source)?.[1];
}

/** The job that looks after an agent by itself; no other job may have such a name. */
export function heartbeatName(agent: string): string {
  return `${HEARTBEAT_PREFIX}${agent}`;
}
export const HEARTBEAT_PREFIX = "heartbeat:";

// ── history ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** What an incoming message's id ends with, for queries. */
export const INPUT_SUFFIX = ":in";
const REPLY = ":reply";

export const messageIds = {
  /** The message that a turn was made for. */
  input: (turn: string) => `${turn}${INPUT_SUFFIX}`,
  /** A model's reply. Calls are counted over the whole turn. */
  reply: (turn: string, segment: number, call: number) => `${turn}:${segment}:${call}${REPLY}`,
  /** Results of the tools that a reply asked for. */
  results: (turn: string, segment: number, call: number) => `${turn}:${segment}:${call}:results`,
  /** Results of tools that the caller ran. */
  given: (turn: string) => `${turn}:given`,
  /** Words of a turn that no model wrote. */
  said: (turn: string) => `${turn}:said`,
  /** What came of an approved call. */
  outcome: (turn: string, segment: number, approval: string) => `${turn}:${segment}:outcome:${approval}`,
  /** What hooks want the model to know, in the request of one call. */
  notes: (turn: string, segment: number, call: number) => `${turn}:${segment}:${call}:notes`,
  /** What came of a wait. */
  after: (turn: string, segment: number, call: string) => `${turn}:${segment}:after:${call}`,
  /** A call that another runtime made in a run, by its place there. */
  runCall: (n: number) => `run-call-${n}`,
  /** A line brought from another conversation: under its old id it would collide with the original. */
  copied: (session: string, id: string) => `${session}/${id}`,
  /** A line brought from another program, by its place in the conversation there. */
  imported: (from: string, conversation: string, n: number) => `imp:${from}:${conversation}:${n}`,
} as const;

/** The turn that a message was made for. */
export function readInputId(id: string): string | undefined {
  return id.endsWith(INPUT_SUFFIX) ? id.slice(0, -INPUT_SUFFIX.length) : undefined;
}

export function isReplyId(id: string): boolean {
  return id.endsWith(REPLY);
}

/**
 * What the agent's own tools brought: results, what came of an approved call or of a wait. What a caller's tools brought, and a line of
 * another conversation or program, has an id of another shape.
 */
export function isResultId(id: string): boolean {
  return /^[^:/]+:\d+:(\d+:results$|outcome:|after:)/.test(id);
}

export function readReplyId(id: string): { turn: string; segment: number; call: number } | undefined {
  if (!isReplyId(id)) return undefined;
  const parts = id.slice(0, -REPLY.length).split(":");
  const [segment, call] = parts.splice(-2);
  if (!/^\d+$/.test(segment ?? "") || !/^\d+$/.test(call ?? "") || parts.join(":") === "") return undefined;
  return { turn: parts.join(":"), segment: Number(segment), call: Number(call) };
}

/** Stands for the turn of a line from another program, and of one from another conversation. */
export function importedTurn(conversation: string): TurnId {
  return asId(`imp:${conversation}`);
}
export function copiedTurn(turn: string): TurnId {
  return asId(`imported:${turn}`);
}

// ── what is said on channels ────────────────────────────────────────────────────────────────────────────────────────

/** What the ids of a turn's answer and of what its tools send are made of, for queries. */
export const ANSWER_SUFFIX = ":answer";
export const SENT_MARK = ":message:";
const ASK = ":ask:";
const ASKED = ":asked:";
const NOTE = ":note";

/** What is sent under one id is sent once. */
export const answerIds = {
  answer: (turn: string) => `${turn}${ANSWER_SUFFIX}`,
  /** Sent by a tool while the turn runs. */
  sent: (turn: string, key: string) => `${turn}${SENT_MARK}${key}`,
  /** A question, where it can be answered. */
  ask: (turn: string, approval: string) => `${turn}${ASK}${approval}`,
  /** The question's message once it is answered. */
  asked: (turn: string, approval: string) => `${turn}${ASKED}${approval}`,
  remind: (turn: string, approval: string, n: number) => `${turn}:remind:${approval}:${n}`,
  /** Says in a chat that the question was asked elsewhere. */
  held: (turn: string, approval: string) => `${turn}:held:${approval}`,
  /** Says that a delivery could not be confirmed. */
  note: (delivery: string) => `${delivery}${NOTE}`,
  /** The live message that an answer grows in. */
  draft: (turn: string) => `${turn}:draft`,
  beat: (turn: string) => `${turn}:beat`,
  /** Says that a job failed. */
  alert: (job: string, due: number) => `${job}:${due}:alert`,
  /** Reports a goal's outcome. */
  goal: (goal: string, round: number, state: string) => `${goal}:${round}:${state}`,
} as const;

/** What Lares says on a channel without a turn. */
export const noticeIds = {
  refused: (event: string) => `refused:${event}`,
  /** Once an hour: two bots answer each other here. */
  loop: (chat: string, hour: number) => `loop:${chat}:${hour}`,
  limit: (of: { scope: string; hours: number; window: number; chat: string }) =>
    `limit:${of.scope}:${of.hours}:${of.window}:${of.chat}`,
  /** A login that was lost at this moment. */
  login: (server: string, lostAt: number) => `login:${server}:${lostAt}`,
  pairing: (code: string) => `pairing:${code}`,
  paired: (code: string) => `paired:${code}`,
  /** A line that a person sends to see whether it arrives. */
  trial: (id: string) => asId<TurnId>(`test:${id}`),
} as const;

export function isTurnAnswer(id: string): boolean {
  return id.endsWith(ANSWER_SUFFIX);
}

export function isNote(id: string): boolean {
  return id.endsWith(NOTE);
}

/** Whether it is a question's message after its answer. */
export function isAskedAnswer(id: string): boolean {
  return id.includes(ASKED);
}

/** The approval that a message asks for. */
export function approvalAskedIn(id: string): string | undefined {
  const at = id.indexOf(ASK);
  return at < 0 ? undefined : id.slice(at + ASK.length) || undefined;
}

/** Whether it asks for this approval or reminds of it. */
export function isAboutApproval(id: string, approval: string): boolean {
  return id.endsWith(`${ASK}${approval}`) || id.includes(`:remind:${approval}:`);
}

/** One message of an answer that takes several. */
export function deliveryId(answer: string, part: number): DeliveryId {
  return asId(`${answer}/${String(part).padStart(3, "0")}`);
}

// ── whose something is ──────────────────────────────────────────────────────────────────────────────────────────────

export const scopeKeys = {
  agent: (agent: string) => `agent:${agent}`,
  team: (team: string) => `team:${team}`,
  person: (person: string) => `person:${person}`,
  account: (at: AccountKey) => `account:${toAccountName(at)}`,
} as const;

export function isAgentScope(scope: string): boolean {
  return scope.startsWith("agent:");
}

/** Nothing for what is everybody's. */
export function readScope(scope: string): { kind: keyof typeof scopeKeys; name: string } | undefined {
  const [, kind, name] = /^(agent|team|person|account):(.*)$/s.exec(scope) ?? [];
  return kind === undefined || name === undefined ? undefined : { kind: kind as keyof typeof scopeKeys, name };
}

/** Whose messages are counted, besides an agent's and an account's: one person's, one chat's, and those that were refused. */
export const countScopes = {
  person: (at: AccountKey, person: string) => `default:${toAccountName(at)}/${person}`,
  chat: (at: AccountKey, chat: string) => `chat:${toChatName({ ...at, chat })}`,
  refused: (at: AccountKey, sender: string) => `refused:${toAccountName(at)}/${sender}`,
  /** One person's share of an account's or an agent's. */
  within: (scope: string, person: string) => `${scope}/${person}`,
} as const;

/** What is counted within a scope lies from `from` up to, but without, `to`. */
export function countScopeRange(scope: string): { from: string; to: string } {
  return { from: `${scope}/`, to: `${scope}0` };
}

/** Whose limit an account's owner is asked about. */
export function senderAt({ channel, account }: AccountKey, sender: string): string {
  return `${channel}:${account}:${sender}`;
}

// ── what needs a person ─────────────────────────────────────────────────────────────────────────────────────────────

/** Conditions. What has happened is found in SQL, see `attentionIdSql`. */
/** The id of a question, from a print of the place in the turn where it is asked: a replay asks under the same one. */
export function toApprovalId(print: string): ApprovalId {
  return asId<ApprovalId>(`ap_${print}`);
}

export function isApprovalId(text: string): text is ApprovalId {
  return text.startsWith("ap_");
}

export const attentionIds = {
  approval: (approval: string) => `approval:${approval}`,
  problem: (n: number) => `problem:${n}`,
  channel: (at: AccountKey) => `channel:${toAccountName(at)}`,
  watch: (watch: string) => `watch:${watch}`,
} as const;

/** An SQL expression for the id of something that happened, from the columns that name it. */
export function attentionIdSql(kind: string, ...columns: readonly string[]): string {
  return `'${kind}:' || ${columns.join(" || ':' || ")}`;
}

/** An SQL expression by which failures are one: whose they are, and what their sentence says before a colon. Amounts follow it. */
export function attentionSameSql(owner: string, sentence: string): string {
  return `${owner} || ':' || substr(${sentence}, 1, instr(${sentence} || ':', ':'))`;
}

export function attentionKind(id: string): string {
  return id.split(":", 1)[0]!;
}

/** Where a page of what happened goes on: behind this time and id. */
export function attentionCursor({ at, id }: { at: number; id: string }): string {
  return `${at}:${id}`;
}

export function readAttentionCursor(cursor: string): { at: number; id: string } {
  const [at, ...id] = cursor.split(":");
  return { at: Number(at), id: id.join(":") };
}

// ── runtimes ────────────────────────────────────────────────────────────────────────────────────────────────────────

const ACP_RUNTIME = "acp:";

/** Our own loop, as a runtime's name. */
export const NATIVE = "native";

/** As in `agents.<id>.runtime`: `acp:<profile>` is an agent that speaks ACP; anything else is a runtime's own name. */
export function readRuntimeName(given: string): { name: string; isAcp: boolean } {
  const isAcp = given.startsWith(ACP_RUNTIME);
  return { name: isAcp ? given.slice(ACP_RUNTIME.length) : given, isAcp };
}
