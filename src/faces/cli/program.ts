/** The words of the command line as a table. What a command does is loaded when it is called. */
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { nearest } from "../../core/kit/index.ts";
import { type Action, makeContext, type Options } from "./context.ts";
import { EXIT, exitForError, usage } from "./exit.ts";
import { HELP } from "./help.ts";
import { makeOutput } from "./output.ts";
import type { CliPorts } from "./ports.ts";

export async function runProgram(argv: string[], ports: CliPorts): Promise<number> {
  let code: number = EXIT.done;
  /** Ties a word to its action: the flags become a context, the rest its arguments. */
  const to =
    (load: () => Promise<Action>) =>
    async (...given: unknown[]) => {
      const command = given.at(-1) as Command;
      const ctx = makeContext(ports, command.optsWithGlobals<Options>());
      const args = command.processedArgs.filter((arg): arg is string => typeof arg === "string");
      code = await (await load())(ctx, args);
    };

  try {
    await build(ports, to).parseAsync(argv, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.done;
    const shown = error instanceof CommanderError ? told(error) : error;
    makeOutput(ports, { json: argv.includes("--json"), quiet: false }).error(shown);
    return exitForError(shown);
  } finally {
    await flushed(ports);
  }
  return code;
}

type To = (load: () => Promise<Action>) => (...given: unknown[]) => Promise<void>;

function build(ports: CliPorts, to: To): Command {
  const lares = new Command("lares");
  lares
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void ports.stdout.write(text),
      writeErr: () => {},
      getOutHelpWidth: () => Math.min(ports.stdout.columns ?? 100, 100),
    })
    .showSuggestionAfterError(false)
    .version(ports.version, "-V, --version", "the version")
    .helpOption("-h, --help", "this page")
    .helpCommand(false)
    .option("--home <dir>", "the home (LARES_HOME, else ~/.lares)")
    .option("--url <url>", "where Lares runs, when it is not this home's")
    .option("--token <token>", "the token, when it is not this home's")
    .option("--json", "JSON: one document, or a line for each item")
    .option("-q, --quiet", "nothing beside the data")
    .option("--no-input", "never ask")
    .option("-y, --yes", "yes to what would be asked")
    .configureHelp({ showGlobalOptions: true, visibleCommands: (command) => [...command.commands] })
    .action(to(async () => (await import("./commands/status.ts")).bare));
  lares.helpInformation = () => HELP;
  words(lares);

  const gateway = noun(lares, "gateway", "Lares itself");
  gateway
    .command("run")
    .description("start Lares in the foreground")
    .addOption(new Option("--port <n>", "the port; 0 takes a free one").argParser(whole(0, 65_535)))
    .option("--bind <addr>", "the address to listen on (127.0.0.1)")
    .action(to(async () => (await import("./commands/gateway.ts")).run));

  lares
    .command("chat")
    .description("talk to an agent")
    .option("-m, --message <text>", "one message, then leave; - reads it from stdin")
    .option("--session <s>", "an existing conversation")
    .option("--user <u>", "speak as this user")
    .option("--agent <a>", "the agent to talk to")
    .option("--idempotency-key <k>", "the same key gets the same turn's answer (with -m)")
    .action(to(async () => (await import("./chat/command.ts")).chat));

  const sessions = noun(lares, "sessions", "conversations");
  const sessionsRoom = () => import("./commands/sessions.ts");
  const filesRoom = () => import("./commands/session-files.ts");
  sessions
    .command("list")
    .description("conversations, the newest last")
    .addOption(new Option("--limit <n>", "at most so many").argParser(whole(1, 500)))
    .option("--search <text>", "only those with this in key or title")
    .option("--agent <a>", "only this agent's")
    .action(to(async () => (await sessionsRoom()).list));
  sessions
    .command("get <session>")
    .description("one conversation and its newest messages")
    .addOption(new Option("--limit <n>", "so many messages (10)").argParser(whole(1, 1000)))
    .action(to(async () => (await sessionsRoom()).get));
  sessions
    .command("reset <session>")
    .description("start it afresh; what was said stays readable")
    .action(to(async () => (await sessionsRoom()).reset));
  sessions
    .command("delete <session>")
    .description("delete it with all its messages; asks first")
    .action(to(async () => (await sessionsRoom()).remove));
  sessions
    .command("export <session>")
    .description("its messages as JSON Lines")
    .option("-o, --output <file>", "into this file")
    .action(to(async () => (await filesRoom()).exportSession));
  sessions
    .command("import <file>")
    .description("take in an exported conversation; - reads stdin")
    .option("--session <s>", "under this key")
    .option("--agent <a>", "for this agent")
    .action(to(async () => (await filesRoom()).importSession));
  sessions
    .command("prune")
    .description("delete what nobody used for long; asks first")
    .addOption(new Option("--older-than <days>", "not used for so many days").argParser(days).makeOptionMandatory())
    .option("--dry-run", "only show what would go")
    .action(to(async () => (await sessionsRoom()).prune));

  const approvals = noun(lares, "approvals", "what waits for a yes or no");
  const approvalsRoom = () => import("./commands/approvals.ts");
  approvals
    .command("list")
    .description("what waits, the newest last")
    .option("--all", "answered ones too")
    .option("--session <s>", "only this conversation's")
    .addOption(new Option("--limit <n>", "at most so many").argParser(whole(1, 1000)))
    .action(to(async () => (await approvalsRoom()).list));
  approvals
    .command("get <id>")
    .description("one approval in full")
    .action(to(async () => (await approvalsRoom()).get));
  approvals
    .command("resolve <id> <decision>")
    .description("answer it: allow-once, allow-always or deny")
    .option("--reason <text>", "told to the agent")
    .action(to(async () => (await approvalsRoom()).resolve));
  lares
    .command("approve <id>")
    .description("allow it once")
    .option("--always", "and whatever is the same from now on")
    .option("--reason <text>", "told to the agent")
    .action(to(async () => (await approvalsRoom()).approve));
  lares
    .command("deny <id>")
    .description("refuse it")
    .option("--reason <text>", "told to the agent")
    .action(to(async () => (await approvalsRoom()).deny));

  const turns = noun(lares, "turns", "what agents did");
  turns
    .command("list")
    .description("turns, the newest last")
    .option("--session <s>", "only this conversation's")
    .option("--open", "only those not ended")
    .addOption(new Option("--limit <n>", "at most so many").argParser(whole(1, 500)))
    .action(to(async () => (await import("./commands/turns.ts")).list));
  turns
    .command("get <turn>")
    .description("one turn, step by step")
    .action(to(async () => (await import("./commands/turns.ts")).get));

  lares
    .command("status")
    .description("is it running, does it need you")
    .action(to(async () => (await import("./commands/status.ts")).status));
  lares
    .command("token")
    .description("print the token")
    .action(to(async () => (await import("./commands/token.ts")).token));
  const models = noun(lares, "models", "who can answer");
  models
    .command("list")
    .description("the models and why each is here")
    .action(to(async () => (await import("./commands/models.ts")).list));

  const config = noun(lares, "config", "lares.yaml");
  const configRoom = () => import("./commands/config.ts");
  config
    .command("get [key]")
    .description("what holds; without a key, all of it")
    .action(to(async () => (await configRoom()).get));
  config
    .command("set <key> [value]")
    .description("change one key in the file")
    .option("--unset", "remove the key, so that its default holds")
    .action(to(async () => (await configRoom()).set));
  config
    .command("check")
    .description("is the file in order")
    .action(to(async () => (await configRoom()).check));
  config
    .command("explain [key]")
    .description("every key with its default and a sentence")
    .action(to(async () => (await configRoom()).explainKeys));
  config
    .command("schema")
    .description("JSON Schema of the file, for editors")
    .action(to(async () => (await configRoom()).schema));

  const debug = noun(lares, "debug", "for tests of Lares");
  debug
    .command("crash-points")
    .description("where LARES_CRASH_AT can end the process")
    .action(to(async () => (await import("./commands/debug.ts")).crashPoints));
  return lares;
}

/** A noun alone shows its verbs. */
function noun(lares: Command, name: string, about: string): Command {
  const command = lares.command(name).description(about).helpCommand(false);
  command.action(() => command.help());
  words(command);
  return command;
}

/** A wrong word gets the nearest right one. */
function words(command: Command): void {
  command.allowExcessArguments();
  command.hook("preAction", (_this, called) => {
    const extra = called.args.slice(called.registeredArguments.length);
    if (!extra.length) return;
    const [word] = extra as [string];
    if (!called.commands.length) throw usage(`"${word}" is one word too many for "${path(called)}".`, helpOf(called));
    const known = called.commands.map((one) => one.name());
    const near = nearest(word, known);
    throw usage(
      `There is no command "${`${path(called)} ${word}`}".`,
      near ? `Did you mean "${path(called)} ${near}"?` : `Known: ${known.join(", ")}.`,
    );
  });
}

function path(command: Command): string {
  return command.parent ? `${path(command.parent)} ${command.name()}` : command.name();
}

function helpOf(command: Command): string {
  return `See: ${path(command)} --help`;
}

/** commander's complaint in our words. */
function told(error: CommanderError): unknown {
  const plain = error.message.replace(/^error: /, "");
  const word = /'([^']+)'/.exec(plain)?.[1] ?? "";
  switch (error.code) {
    case "commander.unknownOption": {
      const near = nearest(word, FLAGS);
      return usage(`There is no flag ${word}.`, near ? `Did you mean ${near}?` : "See: lares --help");
    }
    case "commander.missingArgument":
      return usage(`The ${word} is missing.`, hintFor(word));
    case "commander.optionMissingArgument":
      return usage(`${word} needs a value.`);
    case "commander.missingMandatoryOptionValue":
      return usage(`${word} is needed.`);
    default:
      return usage(`${plain.charAt(0).toUpperCase()}${plain.slice(1)}`.replace(/\.?$/, "."));
  }
}

function hintFor(argument: string): string {
  if (argument === "id") return "See what waits: lares approvals list";
  if (argument === "session") return "See them: lares sessions list";
  if (argument === "turn") return "See them: lares turns list";
  return "See: lares --help";
}

const FLAGS = (
  "--home --url --token --json --quiet --no-input --yes --help --version --port --bind --message --session --user --agent " +
  "--idempotency-key --limit --search --output --older-than --dry-run --all --open --always --reason --unset"
).split(" ");

function whole(least: number, most: number): (text: string) => number {
  return (text) => {
    const n = Number(text);
    if (text.trim() === "" || !Number.isInteger(n) || n < least || n > most) {
      throw new InvalidArgumentError(`It is a whole number from ${least} to ${most}.`);
    }
    return n;
  };
}

function days(text: string): number {
  const n = Number(text.replace(/d$/, ""));
  if (text.trim() === "" || !(n >= 0 && n <= 36_500)) throw new InvalidArgumentError("It is a number of days.");
  return n;
}

/** What was written has left before the process is ended. */
async function flushed(ports: CliPorts): Promise<void> {
  for (const stream of [ports.stdout, ports.stderr]) {
    if (stream.writable) await new Promise<void>((resolve) => stream.write("", () => resolve()));
  }
}
