/**
 * Slash commands: the same in every face and channel. Each acts at once and answers in words; none needs a model. A text that
 * begins with a slash and is no command of ours is an ordinary message. Questions are also answered without a slash, because some
 * clients keep words with a slash to themselves: "approve CODE", "yes CODE", "no CODE", and a bare yes or no where only one
 * question can be meant.
 *
 * COMMANDS-1: a command may be run twice for one message (the sender's platform may repeat it); every one is harmless then.
 * COMMANDS-2: `/stop` only names the turns that are to stop. They are admitted with it and stopped afterwards, so that a message that comes
 *     again, after a crash too, never stops a turn that began later.
 */
import {
  type AnswerWords,
  AppError,
  type ApprovalDecision,
  type ApprovalView,
  type Authority,
  answerWords,
  CODE_LENGTH,
  type InboundMessage,
  type SessionKey,
  type TurnId,
} from "../../core/domain/index.ts";
import { defined, distance, nearest, truthy } from "../../core/kit/index.ts";
import {
  ANSWERED,
  accepted,
  CLEARED,
  CODE_MISSING,
  chooseLevel,
  chooseQuestion,
  didYouMean,
  MAY_NOT_ANSWER,
  NOTHING_RUNS,
  NOTHING_WAITS,
  noSuchCommand,
  notForStrangers,
  ONLY_OWNER_ACCEPTS,
  oneSlash,
  RELOADED,
  settled,
  stopping,
  usedPrompt,
} from "./words.ts";

export interface CommandParts {
  /** A hint with the commands as they work here. */
  called: (hint: string) => string;
  /** The turn a person would mean by "stop": the running one, else the newest that waits. */
  current: (session: SessionKey) => Promise<TurnId | undefined>;
  /** The turns of this session's sub-agents that are at work. */
  helpers: (session: SessionKey) => Promise<TurnId[]>;
  reset: (session: SessionKey) => Promise<void>;
  /** The next message is answered with the agent's files, skills and tools as they are then. */
  reload: (session: SessionKey) => Promise<void>;
  approvals: {
    find(typed: string): Promise<ApprovalView>;
    resolve(
      id: string,
      answer: { decision: ApprovalDecision; by: string; reason?: string; answers?: string },
    ): Promise<ApprovalView>;
    waiting(session: SessionKey): Promise<ApprovalView[]>;
    /** What a bare yes or no here can only mean: open questions, with nothing said in this chat since. */
    justAsked(message: InboundMessage): Promise<ApprovalView[]>;
  };
  status: (session: SessionKey) => Promise<string>;
  /** Which model and how much thinking this session asks for; `undefined` leaves a setting, `null` resets it. */
  tune: (at: SessionPlace, change: { model?: string | null; thinking?: string | null }) => Promise<string>;
  /** Compacts the older part of what the model sees, keeping above all what concerns `focus`; "undo" reverts that. */
  compact: (session: SessionKey, focus: string) => Promise<string>;
  usage: (session: SessionKey) => Promise<string>;
  agents: () => Promise<string>;
  schedules: (call: { args: string; session: SessionKey; person: string; message: InboundMessage }) => Promise<string>;
  /** Shows, sets or resets this person's time zone. */
  timezone: (person: string, args: string) => Promise<string>;
  memory: (session: SessionKey, query: string, message: InboundMessage) => Promise<string>;
  exported: (session: SessionKey) => Promise<string>;
  /** Standing goals of this session: shown, given, paused, gone on with, cancelled. */
  goal: (session: SessionKey, args: string, message: InboundMessage) => Promise<string>;
  /** Lets a stranger in by their code. */
  pair: (
    code: string,
    by: string,
    role: "known" | "owner",
  ) => Promise<{ sender: string; channel: string; account: string }>;
  /** Prompts of MCP servers: `/server:prompt`. */
  prompts: {
    /** What an agent may be given, as it is typed. Starts nothing. */
    list(agent: string): readonly { typed: string; about: string }[];
    /** Its text. Undefined: there is no such server. Throws AppError in words for people. */
    get(agent: string, asked: { server: string; prompt: string; typed: string }): Promise<string | undefined>;
  };
  /** Whether this sender may answer approvals here. */
  mayApprove: (message: InboundMessage) => boolean;
}

/** Where a command was given. The session may not exist yet: its first message can be a command. */
export interface SessionPlace {
  session: SessionKey;
  agent: string;
  person: string;
}

interface Call extends SessionPlace {
  message: InboundMessage;
  args: string;
}

/** `anyone`: strangers too; it costs the owner nothing and shows nothing of theirs. `let-in`: whom the owner let in. `approver`: who may answer approvals here. */
type Who = "anyone" | "let-in" | "approver";

interface Command {
  who: Who;
  usage: string;
  doc: string;
  run(parts: CommandParts, call: Call): Promise<string | CommandReply>;
}

/** An answer, and the turns that are stopped once the command is admitted. */
export interface CommandReply {
  reply: string;
  stop?: { turns: TurnId[]; why: string };
}

/** The message goes to the agent with this text, which somebody else wrote. */
export interface CommandText {
  says: string;
}

/** What daily use needs, by who may use it: a session's model can tell people about these. */
const EVERYDAY = {
  owner: ["/stop", "/new", "/model", "/schedule", "approve CODE"],
  known: ["/stop", "/new", "/model"],
  stranger: ["/stop", "/new"],
} as const satisfies Partial<Record<Authority, readonly string[]>>;

export function everydayCommands(who: keyof typeof EVERYDAY): readonly string[] {
  return EVERYDAY[who];
}

const LEVELS = ["off", "low", "medium", "high"];

export const COMMANDS: Readonly<Record<string, Command>> = {
  help: {
    who: "anyone",
    usage: "/help",
    doc: "this list",
    run: async (parts, { message, agent }) => {
      const prompts = parts.mayApprove(message) ? parts.prompts.list(agent) : [];
      const lines = usable(parts, message).map(([, c]) => `${c.usage}  ${c.doc}`);
      return [...lines, ...prompts.map(({ typed, about }) => `${typed}  ${about}`)].join("\n");
    },
  },
  stop: {
    who: "anyone",
    usage: "/stop",
    doc: "stop the current turn",
    async run(parts, { session, person }) {
      const turn = await parts.current(session);
      const helpers = await parts.helpers(session);
      const turns = [...(turn ? [turn] : []), ...helpers];
      if (!turns.length) return NOTHING_RUNS;
      return { reply: stopping(helpers.length), stop: { turns, why: `${person} said /stop` } };
    },
  },
  new: {
    who: "anyone",
    usage: "/new",
    doc: "clear the context and start over",
    run: (parts, call) => reset(parts, call),
  },
  reset: { who: "anyone", usage: "/reset", doc: "the same as /new", run: (parts, call) => reset(parts, call) },
  reload: {
    who: "let-in",
    usage: "/reload",
    doc: "reload the agent's files, skills and tools; the conversation continues",
    async run(parts, { session }) {
      await parts.reload(session).catch(unlessNew);
      return RELOADED;
    },
  },
  status: {
    who: "let-in",
    usage: "/status",
    doc: "show what is going on",
    run: (parts, { session }) => parts.status(session),
  },
  model: {
    who: "let-in",
    usage: "/model [ID | default]",
    doc: "show or change the model used here",
    run: (parts, { args, ...at }) => parts.tune(toPlace(at), args ? { model: args === "default" ? null : args } : {}),
  },
  think: {
    who: "let-in",
    usage: "/think off|low|medium|high",
    doc: "set how much the model thinks here",
    run: (parts, { args, ...at }) =>
      LEVELS.includes(args)
        ? parts.tune(toPlace(at), { thinking: args === "off" ? null : args })
        : Promise.resolve(chooseLevel(LEVELS)),
  },
  compact: {
    who: "let-in",
    usage: "/compact [FOCUS | undo]",
    doc: "compact earlier messages, or undo that",
    run: (parts, { session, args }) => parts.compact(session, args),
  },
  usage: {
    who: "let-in",
    usage: "/usage",
    doc: "show what this conversation cost",
    run: (parts, { session }) => parts.usage(session),
  },
  agents: { who: "let-in", usage: "/agents", doc: "list the agents", run: (parts) => parts.agents() },
  schedule: {
    who: "let-in",
    usage: "/schedule [TIME: WHAT | run|pause|resume|snooze|remove NAME]",
    doc: "list or add schedules: /schedule tomorrow 9am: water the plants",
    run: (parts, { args, session, person, message }) => parts.schedules({ args, session, person, message }),
  },
  timezone: {
    who: "let-in",
    usage: "/timezone [ZONE | default]",
    doc: "your time zone, for your reminders: /timezone Europe/Berlin",
    run: (parts, { person, args }) => parts.timezone(person, args),
  },
  goal: {
    who: "let-in",
    usage: "/goal [OUTCOME | pause | resume | cancel]",
    doc: "show or set a goal to work towards: /goal the build is green",
    run: (parts, { session, args, message }) => parts.goal(session, args, message),
  },
  memory: {
    who: "let-in",
    usage: "/memory [WORDS]",
    doc: "search memory",
    run: (parts, { session, args, message }) => parts.memory(session, args, message),
  },
  export: {
    who: "let-in",
    usage: "/export",
    doc: "export this conversation as a file",
    run: (parts, { session }) => parts.exported(session),
  },
  approve: {
    who: "approver",
    usage: "/approve CODE [always]",
    doc: "allow a waiting action; also without the slash, or: yes CODE",
    run: (parts, call) => {
      const [code = "", word] = call.args.split(/\s+/);
      return answer(parts, call, code, { decision: word === "always" ? "allow-always" : "allow-once" });
    },
  },
  pair: {
    who: "approver",
    usage: "/pair CODE [owner]",
    doc: "accept the person with this code",
    async run(parts, { args, person, message }) {
      const [code = "", word] = args.split(/\s+/);
      if (!code) return CODE_MISSING;
      if (!parts.mayApprove(message)) return ONLY_OWNER_ACCEPTS;
      return accepted(await parts.pair(code, person, word === "owner" ? "owner" : "known"));
    },
  },
  deny: {
    who: "approver",
    usage: "/deny CODE [reason]",
    doc: "deny a waiting action; also without the slash, or: no CODE",
    run: (parts, call) => {
      const [code = "", ...reason] = call.args.split(/\s+/);
      return answer(parts, call, code, { decision: "deny", ...truthy({ reason: reason.join(" ") }) });
    },
  },
  answer: {
    who: "approver",
    usage: "/answer CODE TEXT",
    doc: "answer a question that a program asks; also without the slash",
    run: (parts, call) => {
      const [code = ""] = call.args.split(/\s/, 1);
      return answer(parts, call, code, { decision: "allow-once", answers: call.args.slice(code.length).trim() });
    },
  },
};

/** What a face can offer while somebody types. From the table that the commands run from, so it promises nothing that isn't there. */
export function listCommands(prompts: ReturnType<CommandParts["prompts"]["list"]>) {
  const own = Object.entries(COMMANDS).map(([name, { usage, doc }]) => ({ name, usage, doc }));
  const theirs = prompts.map(({ typed, about }) => ({ name: typed.slice(1).split(" ")[0]!, usage: typed, doc: about }));
  return [...own, ...theirs];
}

/** The commands this person may use here. */
function usable(parts: Pick<CommandParts, "mayApprove">, message: InboundMessage): [string, Command][] {
  const may: Record<Who, boolean> = {
    anyone: true,
    "let-in": message.authority !== "stranger",
    approver: parts.mayApprove(message),
  };
  return Object.entries(COMMANDS).filter(([, { who }]) => may[who]);
}

export function makeCommands(parts: CommandParts) {
  return {
    async run(
      text: string,
      at: { placement: SessionPlace; message: InboundMessage },
    ): Promise<string | CommandReply | CommandText | undefined> {
      const prompt = PROMPT.exec(text.trim());
      if (prompt && parts.mayApprove(at.message)) {
        const [, server = "", name = "", typed = ""] = prompt;
        const asked = { server, prompt: name, typed: typed.trim() };
        return inWords(parts, async () => {
          const says = await parts.prompts.get(at.placement.agent, asked);
          return says === undefined ? undefined : { says: usedPrompt(`${server}:${name}`, says) };
        });
      }
      const match = /^\/([a-z]+)(?:\s([\s\S]*))?$/i.exec(text.trim());
      const name = (match?.[1] ?? "").toLowerCase();
      const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
      const place = toPlace(at.placement);
      const typed = match ? undefined : answerWords(text);
      if (typed) return inWords(parts, () => plainAnswer(parts, { ...place, message: at.message, args: "" }, typed));
      const doubled = DOUBLED.exec(text.trim())?.[1]?.toLowerCase();
      if (doubled !== undefined) return meantByTwo(parts, doubled, at.message);
      const word = match ? name : SLASH_WORD.exec(text.trim())?.[1]?.toLowerCase();
      if (word === undefined) return undefined;
      if (!match || !command) return meant(parts, word, text.trim(), at.message);
      // What needs an approver says so itself.
      if (command.who === "let-in" && at.message.authority === "stranger") return notForStrangers(name);
      const args = (match[2] ?? "").trim();
      return inWords(parts, () => command.run(parts, { ...place, message: at.message, args }));
    },
  };
}

/** `/server:prompt` and what is given to it. */
const PROMPT = /^\/([A-Za-z0-9][\w-]{0,31}):([\w.-]{0,64})(?:\s([\s\S]*))?$/;

function toPlace({ session, agent, person }: SessionPlace): SessionPlace {
  return { session, agent, person };
}

async function inWords<T>(parts: CommandParts, act: () => Promise<T>): Promise<T | string> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [error.message, error.hint && parts.called(error.hint)].filter(Boolean).join(" ");
  }
}

/** Nothing where it only looks like an answer: "yes please" is said to the agent. */
async function plainAnswer(parts: CommandParts, call: Call, said: AnswerWords): Promise<string | undefined> {
  const { code, decision, reason, answers } = said;
  if (code === undefined) {
    // In a group people also say yes to each other, and an edit is an old message.
    const { isGroup, about } = call.message;
    if (isGroup || about?.isEdited || !parts.mayApprove(call.message)) return undefined;
    const asked = await parts.approvals.justAsked(call.message);
    return asked.length ? settle(parts, call, asked, { decision }) : undefined;
  }
  try {
    await parts.approvals.find(code);
  } catch (error) {
    // Letters with digits are a code with a slip in it; letters alone are a word.
    const isWord = !/\d/.test(code) || !/[a-z]/.test(code);
    if (error instanceof AppError && error.code === "NOT_FOUND" && isWord) return undefined;
    throw error;
  }
  return answer(parts, call, code, { decision, ...defined({ reason, answers }) });
}

/** Directories at the root of a machine: a message may begin with one. */
const PLACES: ReadonlySet<string> = new Set(
  "bin boot data dev etc home lib media mnt nix opt proc root run sbin snap srv sys tmp usr var users volumes".split(
    " ",
  ),
);

/** A word after a slash; with a dot or another slash it is a path. */
const SLASH_WORD = /^\/(\p{L}[\p{L}\p{N}_-]*)(?=\s|$)/u;
/** One word after two slashes. With more after it, it goes to the agent. */
const DOUBLED = /^\/\/([a-z]+)$/i;

/**
 * A mistyped command is answered with the one that was meant. A word that is near none of ours was meant as a command too. In a group
 * it may be for another program, if more follows.
 */
function meant(parts: CommandParts, word: string, text: string, message: InboundMessage): string | undefined {
  if (message.origin === "event" || PLACES.has(word)) return undefined;
  const near = nearCommand(parts, word, message);
  if (near !== undefined) return didYouMean(word, near);
  return message.isGroup && /\s/.test(text) ? undefined : noSuchCommand(word);
}

/** A command, or nearly one, alone behind two slashes: nobody says that to an agent. Any other word goes to it. */
function meantByTwo(parts: CommandParts, word: string, message: InboundMessage): string | undefined {
  if (message.origin === "event" || PLACES.has(word)) return undefined;
  const isCommand = usable(parts, message).some(([name]) => name === word);
  const near = isCommand ? word : nearCommand(parts, word, message);
  return near === undefined ? undefined : oneSlash(near);
}

function nearCommand(parts: CommandParts, word: string, message: InboundMessage): string | undefined {
  if (word.length < 3) return undefined;
  const known = usable(parts, message).map(([name]) => name);
  return nearest(
    word,
    known.filter((name) => isSlip(word, name)),
  );
}

/** Two letters of a short word are half of it: then only one may be wrong, or two neighbours swapped. */
function isSlip(word: string, name: string): boolean {
  return Math.min(word.length, name.length) > 4 || distance(word, name, 1) === 1;
}

async function reset(parts: CommandParts, { session }: Call): Promise<string> {
  await parts.reset(session).catch(unlessNew);
  return CLEARED;
}

/** A conversation that has not begun has nothing to change. */
function unlessNew(error: unknown): void {
  if (!(error instanceof AppError && error.code === "NOT_FOUND")) throw error;
}

async function answer(parts: CommandParts, call: Call, code: string, said: Omit<AnswerWords, "code">): Promise<string> {
  if (!parts.mayApprove(call.message)) return MAY_NOT_ANSWER;
  const waiting = code ? [await parts.approvals.find(code)] : await parts.approvals.waiting(call.session);
  if (!waiting.length) return NOTHING_WAITS;
  return settle(parts, call, waiting, said);
}

const LONGEST_LINE = 100;

function firstLine(tool: string, shown: string): string {
  const letters = [...(shown.split("\n").find((line) => line.trim()) ?? "").trim()];
  const line = letters.length > LONGEST_LINE ? `${letters.slice(0, LONGEST_LINE - 1).join("")}…` : letters.join("");
  return line ? `${tool}: ${line}` : tool;
}

async function settle(
  parts: CommandParts,
  call: Call,
  waiting: readonly ApprovalView[],
  said: Omit<AnswerWords, "code">,
): Promise<string> {
  if (waiting.length > 1) {
    const word = said.decision === "deny" ? "no" : "yes";
    return chooseQuestion(
      waiting.map(({ id, tool, shown }) => ({
        say: `${word} ${id.slice(-CODE_LENGTH)}`,
        about: firstLine(tool, shown),
      })),
    );
  }
  const done = await parts.approvals.resolve(waiting[0]!.id, { ...said, by: call.person });
  return said.answers === undefined ? settled(done.state === "allowed", done.tool) : ANSWERED;
}
