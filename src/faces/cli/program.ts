/** Makes the program from the table of commands. What a command does is loaded when it is called. */
import { resolve } from "node:path";
import { Command, CommanderError, Option } from "commander";
import { AppError } from "../../core/domain/index.ts";
import { nearest } from "../../core/kit/index.ts";
import { asCalled } from "../../core/protocol/client.ts";
import { type Action, type Context, makeContext, type Options } from "./context.ts";
import { EXIT, exitForError, usage } from "./exit.ts";
import { makeOutput } from "./output.ts";
import type { CliPorts } from "./ports.ts";
import { programWords as words } from "./words/common.ts";
import { helpPage } from "./words/help.ts";
import { type CommandEntry, EVERYWHERE, FLAGS, type Flag, GROUPS } from "./words/table/index.ts";

export async function runProgram(argv: string[], ports: CliPorts): Promise<number> {
  let code: number = EXIT.done;
  let ctx: Context | undefined;
  /** Ties a word to its action: the flags become a context, the rest its arguments. */
  const to =
    (load: () => Promise<Action>) =>
    async (...given: unknown[]) => {
      const command = given.at(-1) as Command;
      ctx = makeContext(ports, command.optsWithGlobals<Options>());
      const args = command.processedArgs.filter((arg): arg is string => typeof arg === "string");
      code = await (await load())(ctx, args);
    };

  const lares = build(ports, to);
  try {
    await lares.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.done;
    const shown = error instanceof CommanderError ? told(error, called(lares, argv)) : await explainHome(error, ctx);
    const { home } = lares.opts<Options>();
    const flags = { json: argv.includes("--json"), quiet: false, ...(home ? { home: resolve(home) } : {}) };
    makeOutput(ports, flags).error(shown);
    return exitForError(shown);
  } finally {
    await flushed(ports);
  }
  return code;
}

/** Part of the output is missing, and a script must be able to tell. */
export async function reportBroken(argv: string[], ports: CliPorts, cause: NodeJS.ErrnoException): Promise<number> {
  const error = usage(words.outputBroken(cause.code ?? cause.message));
  makeOutput(ports, { json: argv.includes("--json"), quiet: false }).error(error);
  await flushed(ports);
  return exitForError(error);
}

/** "Start it" is no advice where Lares can't be started: a file is where its home should be. */
async function explainHome(error: unknown, ctx: Context | undefined): Promise<unknown> {
  if (!ctx || !(error instanceof AppError) || error.code !== "GATEWAY_DOWN" || ctx.options.url !== undefined)
    return error;
  return (await import("../../ground/config/index.ts")).homeFileProblem(ctx.home) ?? error;
}

type To = (load: () => Promise<Action>) => (...given: unknown[]) => Promise<void>;

function build(ports: CliPorts, to: To): Command {
  const name = ports.program?.here ?? "lares";
  const lares = new Command(name);
  lares
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void ports.stdout.write(text === helpPage(name) ? text : asCalled(text, name)),
      writeErr: () => {},
      getOutHelpWidth: () => Math.min(ports.stdout.columns ?? 100, 100),
    })
    .showSuggestionAfterError(false)
    .version(ports.version, "-V, --version", words.version)
    .helpOption("-h, --help", words.help)
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true, visibleCommands: (command) => [...command.commands] })
    .action(to(async () => (await import("./commands/status.ts")).bare));
  for (const flag of EVERYWHERE) lares.addOption(toOption(flag));
  lares.helpInformation = () => helpPage(name);
  refuseUnknown(lares);

  const nouns = new Map<string, Command>();
  for (const group of GROUPS) {
    for (const [name, about] of Object.entries(group.nouns)) nouns.set(name, noun(lares, name, about));
    for (const entry of group.commands) addCommand(lares, nouns, entry, to);
  }
  return lares;
}

function addCommand(lares: Command, nouns: ReadonlyMap<string, Command>, entry: CommandEntry, to: To): void {
  const [first = "", verb] = entry.name.split(" ");
  // A noun, or a command that does something by itself and has verbs as well.
  const above = verb === undefined ? lares : (nouns.get(first) ?? commandAlone(lares, first));
  const command = above.command([verb ?? first, entry.takes].filter(Boolean).join(" "));
  command.description(entry.about).addHelpText("after", words.example(entry.example)).action(to(entry.load));
  for (const flag of entry.flags ?? []) command.addOption(toOption(flag));
}

function commandAlone(lares: Command, name: string): Command {
  const found = lares.commands.find((command) => command.name() === name);
  if (!found) throw new Error(`there is no command "${name}" to put a verb below`);
  return found;
}

function toOption({ flag, about, parse, choices, repeats, needed }: Flag): Option {
  const option = new Option(flag, about);
  if (choices) option.choices(choices);
  if (parse) option.argParser(parse);
  if (repeats) {
    const one = option.parseArg;
    option.argParser((text, before: unknown) => {
      const value: unknown = one ? one(text, undefined) : text;
      return Array.isArray(before) ? [...(before as unknown[]), value] : [value];
    });
  }
  return option.makeOptionMandatory(needed ?? false);
}

/** A noun alone shows its verbs. */
function noun(lares: Command, name: string, about: string): Command {
  const command = lares.command(name).description(about).helpCommand(false);
  command.action(() => command.help());
  refuseUnknown(command);
  return command;
}

/** A wrong word gets the nearest right one. */
function refuseUnknown(command: Command): void {
  command.allowExcessArguments();
  command.hook("preAction", (_this, called) => {
    const extra = called.args.slice(called.registeredArguments.length);
    if (!extra.length) return;
    const [word] = extra as [string];
    if (!called.commands.length) throw usage(words.tooMany(word, path(called)), pointToHelp(called));
    const known = called.commands.map((one) => one.name());
    const near = nearest(word, known);
    throw usage(
      words.noCommand(path(called), word),
      near ? words.didYouMean(path(called), near) : words.known(known.join(", ")),
    );
  });
}

function path(command: Command): string {
  return command.parent ? `${path(command.parent)} ${command.name()}` : command.name();
}

/** The command that the first words name. Those of flags in front of it hide it, and then it is the program itself. */
function called(lares: Command, argv: readonly string[]): Command {
  let found = lares;
  for (const word of argv) {
    const below = found.commands.find((one) => one.name() === word);
    if (!below) break;
    found = below;
  }
  return found;
}

function pointToHelp(command: Command): string {
  return words.seeHelp(path(command));
}

/** Only what this command takes: a flag of another one would be refused next. */
function listFlags(command: Command): string[] {
  const everywhere = EVERYWHERE.map(({ flag }) => /--[a-z-]+/.exec(flag)![0]);
  return [...everywhere, "--help", ...command.options.flatMap(({ long }) => long ?? [])];
}

/** commander's complaint in our words. */
function told(error: CommanderError, command: Command): unknown {
  const plain = error.message.replace(/^error: /, "");
  const word = /'([^']+)'/.exec(plain)?.[1] ?? "";
  switch (error.code) {
    case "commander.unknownOption": {
      // A flag of another command: its own name would be no help.
      if ([...FLAGS].includes(word)) return usage(words.notAFlag(word), words.addHelp);
      const near = nearest(word, listFlags(command));
      return usage(words.noFlag(word), near ? words.didYouMeanFlag(near) : pointToHelp(command));
    }
    case "commander.missingArgument":
      return usage(words.missing(word), seeFor(word) ?? pointToHelp(command));
    case "commander.optionMissingArgument":
      return usage(words.needsValue(word), pointToHelp(command));
    case "commander.missingMandatoryOptionValue":
      return usage(words.required(word), pointToHelp(command));
    default:
      return usage(`${plain.charAt(0).toUpperCase()}${plain.slice(1)}`.replace(/\.?$/, "."));
  }
}

/** Where to look up what is missing. */
function seeFor(word: string): string | undefined {
  return (words.see as Readonly<Record<string, string>>)[word];
}

/** What was written has left before the process is ended. */
async function flushed(ports: CliPorts): Promise<void> {
  for (const stream of [ports.stdout, ports.stderr]) {
    if (stream.writable) await new Promise<void>((resolve) => stream.write("", () => resolve()));
  }
}
