/**
 * A tool: schema, one line of description, what repeating it means, how risky it is, and a run function.
 *
 * TOOL-1: `run` throws AppError("TOOL_INPUT" | "PATH_OUTSIDE" | …) for what the model did wrong; the text goes back to the model.
 * TOOL-2: `run` obeys `signal` and leaves no child process behind when it aborts.
 * TOOL-3: what `plan` says is what `run` does: the gate judges and the person sees the plan.
 * TOOL-4: a tool's words, in success and in failure, are text from outside unless it declares them its own (I12).
 */
import type { QuestionAnswer, QuestionForm } from "../domain/form.ts";
import type { Json, JsonObject } from "../domain/json.ts";
import type { Authority, ImagePart, Origin, ReplyRoute } from "../domain/message.ts";
import type { RunsWhere } from "../domain/turn.ts";
import type { LeftIntent, Probed } from "./engine.ts";
import type { ToolSpec } from "./model.ts";
import type { Tx } from "./records.ts";

export interface ToolPlace {
  /** The agent's folder; file tools stay inside its workspace. */
  agentDir: string;
  /** Real path of the agent's workspace. */
  workspace: string;
  /** Folders besides the workspace that the agent works in; real paths. */
  roots?: readonly string[];
  /** Where relative paths and commands start when that isn't the workspace: a folder inside it or inside one of the roots. */
  folder?: string;
  /** The home of the person Lares runs as: what `~` stands for. */
  userHome?: string;
  /** Where whole outputs are kept when the result was cut: below the workspace, so that the agent can read them. */
  spillDir: string;
  /** The turn that calls: for tools that act on Lares itself. */
  caller: ToolCaller;
  /** The call as the model made it; absent where nobody sees it. */
  call?: { id: string; name: string };
  /** Shows people how far a long call is, live and nowhere else. May be called as often as there is news. */
  onProgress?: (progress: ToolProgress) => void;
  /** A rule allowed the settled form of the command and nobody saw the other one: this text is what runs. */
  runsSettled?: string;
}

export interface ToolProgress {
  /** In any unit; it only grows. */
  done: number;
  /** Unknown where it is left out. */
  total?: number | undefined;
  /** The tool's own words: text from outside. */
  text?: string | undefined;
}

export interface ToolCaller {
  /** The agent that calls. */
  agent: string;
  /** The session it calls in. */
  session: string;
  /** The turn it calls in. */
  turn: string;
  /** Where the turn's answer goes. */
  route: ReplyRoute;
  /** The only tools this chat allows, where it allows only some. */
  tools?: readonly string[];
  /** Whose rights the turn acts with; what it starts has no more. */
  authority?: Authority;
}

/** What a tool is about to do, in words the gate can judge and a person can read. */
export interface ActionPlan {
  /** The tool's name, as rules refer to it. */
  tool: string;
  /**
   * `read` looks inside the workspace only; everything else asks until a rule says otherwise. `service` calls a tool that somebody
   * else wrote and runs (MCP): what it does, only they know.
   */
  risk: "read" | "write" | "exec" | "network" | "service" | "state";
  /** Canonical targets: paths for file tools, argv for exec, hosts for the net, `server/tool` for services. */
  targets: string[];
  /** Exactly what will happen, one block of text, rendered from what will run. */
  shown: string;
  /** All of it, where `shown` leaves out the dull middle of a long text. */
  whole?: string;
  /** Of a command. */
  where?: RunsWhere;
  /** Everything the approval is bound to: argv, cwd, environment, contents. */
  binding: JsonObject;
  /** Why it is out of bounds, when it is. Lares' own words: nothing that a file or a page says. */
  outside?: string;
  /** It reads outside the workspace: a person or a rule for `read` has to allow it. */
  beyond?: true;
  /** For `exec`: what the parser knows of the command. Facts only; the gate judges. */
  shell?: ShellPlan;
  /** What of Lares itself would change; turns caused by text from outside never do this without a person (I12). */
  changes?: "memory" | "skills" | "schedule" | "policy" | "rights" | "destination";
  /** It can't be undone, or so its server says: a rule with a wildcard doesn't cover it, one that names it does. */
  destroys?: true;
  /** It is no tool, but something else its server may get: a rule for all tools of the server wasn't written with it in mind. */
  apart?: true;
  /** It only adds to what Lares stores, and a person can undo it, so the owner's own turn doesn't ask. */
  adds?: true;
  /** It may load files that are not all part of `binding`: an approval is then bound to what tools change there, too. */
  unbound?: true;
  /** What it starts goes on after the call: a later call of the same reply that looks at such things waits until it has started. */
  starts?: true;
  /** Why it can be allowed once only: what runs may change without its words changing. */
  once?: string;
  /** The same call with what depends on the moment written out ("in 2 minutes" as a time): asked about and run in its place. */
  fixed?: Json;
  /** After this time it can no longer be done, so an approval for it expires by then at the latest. */
  until?: number;
  /** Files this leaves in the workspace, by their absolute paths, where the tool knows beforehand; null: no file. */
  leaves?: { path: string; sha256: string | null }[];
}

/** What a shell text would do, as facts a pure gate can judge. */
export interface ShellPlan {
  /** The text as it was given. */
  text: string;
  /**
   * `argv`: one plain command with literal words, started without a shell. `rendered`: plain commands joined by `;`, `&&`,
   * `||`, `|`; the shell gets a text made from the judged words. `shell`: anything else; the shell gets the text itself.
   */
  form: "argv" | "rendered" | "shell";
  /** Every command found, nested ones too, in source order. */
  commands: ShellCommand[];
  /** What keeps it from being plain, most telling first. Empty for `argv`. */
  reasons: ShellReason[];
  /** Real path of the directory it runs in. */
  cwd: string;
  /** Settings of the repository that would make git run programs: `filter.x.clean=…`. */
  settings?: string[];
  /** Symbolic links that its words go over, and where each leads. A pattern in `from` is one that a word has. */
  links?: { from: string; to: string }[];
  /** Files its words name that have other names (hard links), one of which may be a file of the agent's own. */
  hardLinks?: string[];
  /** It has more words than were looked up: there may be other links. */
  isCut?: true;
  /**
   * For `shell`: the same with patterns expanded and loops unrolled, where that could be done. Good for allowing only; everything
   * else is judged by the text itself.
   */
  settled?: SettledPlan;
}

export interface SettledPlan {
  /** What the shell gets when a rule allows it. */
  run: string;
  /** Real path of the directory all of it runs in. */
  cwd: string;
  /** Commands inside `$( )` count like the others. */
  commands: ShellCommand[];
  /** What still keeps it from being plain. Empty if a rule can cover all of it. */
  reasons: ShellReason[];
  /** As in `ShellPlan`, for the settled form. */
  settings?: string[];
}

export interface ShellCommand {
  /** What each word becomes. Never empty; the first is the program. */
  words: ShellWord[];
  /** Variables set for it, or for the shell when no program follows. */
  assignments: { name: string; value: ShellWord }[];
  /**
   * Files it is connected to. `isDescriptor`: the target is another descriptor of the command (`2>&1`), not a file. `isPlainFile`: no
   * link leads there, and what stands there, if anything, is a file that nobody can run and that has no other name. `bytes`: how
   * large that file is.
   */
  redirects: { operator: string; target: ShellWord; isDescriptor?: true; isPlainFile?: true; bytes?: number }[];
  /** Words of `tee`, by their index, that name a plain file as above. */
  plainFiles?: { word: number; bytes?: number }[];
  /**
   * Words that name a place inside the workspace, by their index, and lead out of it over a symbolic link, also by a file in a folder
   * that they name. `isHard`: the file has other names, one of which may be outside; that matters where it is written. `isGit`: it
   * lies where git keeps a repository; the same. `isSecret`: a search would meet this file of secrets; without its own place
   * the word is the program. `to`: the word goes over links and is really this file, for words that lie outside by their name, and for
   * files of secrets that are reached by another name; where it may be read or written is judged by that.
   */
  links?: { word: number; path: string; isHard?: true; isGit?: true; isSecret?: true; to?: string }[];
  /** Something comes in on its standard input: from a pipe, a file or a text. */
  isFed?: true;
  /** Path from the outside in: `$( )`, `bash -c`, `function f`. Empty for what the text itself starts. */
  within: string[];
  /** The file a program name stands for; absent for builtins, functions, and names that trusted directories do not hold. */
  program?: { path: string; real: string; trusted: boolean };
}

export interface ShellWord {
  /** The exact text the program gets; absent when it is computed while running. */
  literal?: string;
  /** The nearest guess: `~` for the home, `*` for what is not known. Good for refusing, never for allowing. */
  guess: string;
  /** All of it, or all but a pattern at its end, is computed: it may be `/`. */
  isUnseen?: true;
}

export interface ShellReason {
  /** The catalogue's name for it. */
  kind: ShellReasonKind;
  /** One sentence for a person. */
  text: string;
  /** Which program runs what, where a rule may still answer it: code in its own language, or another program. */
  runs?: { program: string; what: "code" | "program" };
}

/** Sorted by weight: people see the first of a command's reasons. */
export const SHELL_REASONS = [
  "unparsed", // the parser or its double does not understand it
  "fork-bomb",
  "computed-program", // which program runs is computed while running
  "hidden-code", // a program gets code that cannot be shown: piped, computed, substituted
  "heredoc-expansion",
  "load-assignment", // a variable that changes how programs load code
  "evaluates", // text is evaluated a second time
  "startup-file",
  "encoded",
  "inline-code",
  "wrapper", // a program that starts other programs
  "script", // an interpreter runs a file that the command names
  "builtin",
  "function",
  "substitution",
  "writes", // a program changes files by its own action: find -delete
  "redirection",
  "heredoc",
  "assignment",
  "expansion",
  "construct", // loops, conditions, background, groups
  "not-found",
] as const;
export type ShellReasonKind = (typeof SHELL_REASONS)[number];

export interface ToolResult {
  /** What the model reads. Capped at capture; the whole is on disk when it was cut. */
  text: string;
  /** The call failed; `text` says why and what to do next. */
  isError?: boolean;
  /** Whose words `text` is, where that differs from what the tool declares in `words`. */
  origin?: Origin;
  /** For people: exit code, bytes, path, diff. */
  meta?: JsonObject;
  /** Pictures for models that see, kept with the session; `text` says what they are for the others. */
  images?: ImagePart[];
  /** What a person should know about how the call went; shown below the turn's answer. */
  notice?: string;
  /** The turn parks until this event comes or the deadline passes; then `after` returns the result. */
  wait?: { on: string; deadline: number };
  /** The far side wants to know something from a person first: the turn parks, and `goOn` continues the call with the answer. */
  ask?: ToolQuestion;
}

/** What somebody else's program asks in the middle of a call. */
export interface ToolQuestion {
  /** The question as people read it: who asks, and in which words. Bounded, and without characters that hide text. */
  shown: string;
  /** What is to be filled in. */
  form: QuestionForm;
  /** When the far side stops waiting, where it can't wait as long as people may. */
  until?: number;
  /** What the tool needs to go on. Stored with the parked turn. */
  state: Json;
}

/** What came of a wait. */
export interface AfterWait {
  /** What the model reads. */
  text: string;
  /** Whose words `text` is; `outside` when nothing is said. */
  origin?: Origin;
  /** The call failed. */
  isError?: boolean;
  /** What the person should know about how it went; shown below the turn's answer. */
  notice?: string;
  /** The far side wants to know something from a person before it goes on: the turn waits for that, and `goOn` continues the call. */
  ask?: ToolQuestion;
  /** Written with the text. Idempotent. */
  record?: (tx: Tx) => void;
}

/** A call whose outcome a dead process did not record. */
export interface LeftCall extends LeftIntent {
  /** Aborts when the turn is stopped or this process ends. */
  signal: AbortSignal;
}

export interface Tool {
  /** Name, description and input schema, as the model sees them. */
  spec: ToolSpec;
  /** False: left out of the list a new conversation gets, e.g. because it is not set up. Left out: always offered. */
  offered?(): boolean;
  /** `never`: an unknown outcome is reported, not repeated. `safe`: reading again is harmless. */
  repeat: "never" | "with-key" | "safe";
  /**
   * Whose words its results and its failures are. Say `own` only for text that cannot hold anything a file, a page, a program or
   * another person wrote; what the model itself gave as input does not count. Left out, they are from outside (TOOL-4).
   */
  words?: { result?: Origin; failure?: Origin };
  /**
   * The call names files or folders of the owner's, which planning already looks up. Guests are refused such a call before it is
   * planned: even a failure would tell them what is there.
   */
  opensFiles?(input: Json): boolean;
  /** For a tool that runs another: which one, with what. Throws TOOL_INPUT when there is no such tool. */
  runs?(input: Json): { tool: Tool; input: Json };
  /** It looks at what other calls start: it runs when those before it in the same reply have. */
  looksAtStarted?: true;
  /** Checks the input and says what would happen. Throws TOOL_INPUT for input that makes no sense. */
  plan(input: Json, place: ToolPlace): Promise<ActionPlan>;
  /** Does what `plan` said. `key` is the same on every attempt of this call (TOOL-1 to TOOL-3). */
  run(input: Json, place: ToolPlace, key: string, signal: AbortSignal): Promise<ToolResult>;
  /**
   * After a crash: what the far side says happened, if it can say. `never` promises that it did not happen and that nothing left
   * over from the dead process can still make it happen. Waits for what still runs, until `signal` aborts.
   */
  probe?(input: Json, place: ToolPlace, key: string, left: LeftCall): Promise<Probed<ToolResult>>;
  /** The outcome of this call is durable: what was kept for `probe` can go. May be missed in a crash. */
  settled?(input: Json, key: string): void;
  /** After an `ask`: goes on with the same call. An effect like `run`: recorded before, and never repeated. */
  goOn?(
    input: Json,
    place: ToolPlace,
    asked: { state: Json; answer: QuestionAnswer },
    key: string,
    signal: AbortSignal,
  ): Promise<ToolResult>;
  /** After a `wait`. May be asked again when its answer was not recorded. */
  after?(input: Json, place: ToolPlace, wait: { on: string; deadline: number }): Promise<AfterWait>;
}

/**
 * Thrown by `run` when the far side got the call and did not report the outcome. The call is recorded as unknown and never
 * repeated; `message` is a sentence for people and may quote the far side.
 */
export class OutcomeUnknown extends Error {
  constructor(message: string) {
    super(message);
    this.name = "OutcomeUnknown";
  }
}

/** Whose words a tool's answer is. The one place where this is decided, for successes and failures alike. */
export function resultOrigin(
  tool: Pick<Tool, "words"> | undefined,
  said: Pick<ToolResult, "origin" | "isError">,
): Origin {
  return said.origin ?? (said.isError ? tool?.words?.failure : tool?.words?.result) ?? "outside";
}

/** A failure as the model reads it. */
export function failed(error: { message: string; hint?: string | undefined; origin?: Origin | undefined }): ToolResult {
  return {
    // Behind quoted lines the hint gets its own line: glued to the last one, a model would copy it with it.
    text: [error.message, error.hint].filter(Boolean).join(error.message.includes("\n") ? "\n" : " "),
    isError: true,
    ...(error.origin ? { origin: error.origin } : {}),
  };
}
