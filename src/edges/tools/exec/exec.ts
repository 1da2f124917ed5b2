/**
 * `exec`: a shell command, in the foreground or in the background. `repeat` is `never`: nobody knows what a second run would
 * do. Both run under a supervisor and are found again by their key after a crash.
 * The working directory is held open from the check to the start, so a swapped link cannot move the command elsewhere.
 */
import { writeFileSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { constants } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";
import type { LeftCall, Probed, Tool, ToolPlace, ToolResult } from "../../../core/contracts/index.ts";
import { AppError, isSingleTask, type JsonObject } from "../../../core/domain/index.ts";
import { defined, truthy } from "../../../core/kit/index.ts";
import { visibleLine } from "../escape.ts";
import { flag, internal, parseInput, wholeNumber } from "../input.ts";
import { openInside, orNear, rooted, wrongInput } from "../paths/index.ts";
import { keepLimits, type Processes, type SeenProcess } from "../process/index.ts";
import { type Confinement, named, type SandboxRoom } from "../sandbox/index.ts";
import { adviceFor } from "./advice.ts";
import { SHOWN } from "./capture.ts";
import { codeTree, loadsCode } from "./code-tree.ts";
import { asCommand, elide, notes, SHOWN_WHOLE, spelt } from "./display.ts";
import { type Locale, systemShell } from "./environment.ts";
import { linksOnTheWay, lookAtGlued } from "./links.ts";
import { Looks, listPlaces } from "./looks.ts";
import { namedFiles } from "./named-files.ts";
import { type Prepared, prepare } from "./prepare.ts";
import { endRun } from "./processes.ts";
import { recoverCommand } from "./recover.ts";
import { type EndedRun, runCommand } from "./run.ts";
import { CommandRuns } from "./runs.ts";
import type { Link } from "./way.ts";

export const DEFAULT_S = 120;
export const MOST_S = 600;
/** A person must be able to read all of it before saying yes; longer things belong in a file. */
const MOST_CHARACTERS = 16_000;
/** Part of what is remembered: what was allowed always in a sandbox asks again when there is none any more. */
const UNCONFINED = "without a sandbox";

const schema = z.strictObject({
  command: z.string().min(1),
  cwd: z.string().min(1).optional(),
  timeout_s: wholeNumber(1, MOST_S).optional(),
  background: flag.optional(),
  pty: flag.optional(),
  /** Not offered to models: what is printed and what is complained about are told apart, and an exit of 0 leaves only the first. */
  apart: internal(flag.optional()),
});

export interface ExecOptions extends Locale {
  /** Trusted directories, joined by colons, instead of the system's. Only root, or the owner of Lares, may write to them. */
  path?: string;
  /** Where commands run. Without it they run as they are, and nothing is said about it. */
  sandbox?: Confinement;
  /** Secrets granted to an agent, as variables; asked when a command starts, not before. */
  secrets?: (agent: string) => Readonly<Record<string, { reveal(): string }>>;
  /** Keeps what runs in the background. Without it nothing does. */
  processes?: Pick<Processes, "name" | "start" | "became">;
  /** Keeps what runs in the foreground, so that its end is known after a crash. */
  runs?: CommandRuns;
}

export function createExec(options: ExecOptions = {}): Tool {
  const { path: trusted, sandbox, secrets, processes, runs = new CommandRuns(), ...locale } = options;
  const where = ({ path, home, roots }: Held) => ({
    cwd: path,
    home,
    roots,
    locale,
    ...truthy({ path: trusted }),
  });
  const granted = (place: ToolPlace) => grantedTo(place, secrets);
  /** What can be advised to whoever called: only what they are offered. */
  const waysOn = ({ caller: { session, tools } }: ToolPlace) => {
    const has = (tool: string) => tools === undefined || tools.includes(tool);
    return { mayStay: processes !== undefined && !isSingleTask(session) && has("process"), mayFetch: has("web_fetch") };
  };
  /** What will be started, in the room where it runs. */
  const confined = async ({ given, held, place, start: { argv, argv0, env } }: Starting, key: string) => {
    const revealed = Object.entries(granted(place)).map(([name, secret]) => [name, secret.reveal()] as const);
    const room = await sandbox?.room(held.home, place.caller);
    const command = {
      argv,
      ...defined({ argv0 }),
      cwd: held.path,
      // What is ours stands: a secret named PATH changes nothing.
      env: { ...Object.fromEntries(revealed), ...env },
      key,
      ...truthy({ survives: given.background, terminal: given.pty }),
    };
    const wrapped = room ? room.wrap(command) : command;
    return { end: undefined, limits: room?.rules.limits, hasNetwork: hasNetwork(room), ...wrapped };
  };
  const inForeground = async (starting: Starting, key: string, signal: AbortSignal) => {
    const { given, held, place } = starting;
    const { argv, argv0, env, end, limits, hasNetwork } = await confined(starting, key);
    const dir = runs.make(key);
    if (end) writeFileSync(join(dir, "end"), JSON.stringify(end), { mode: 0o600 });
    if (limits) keepLimits(dir, limits);
    const ended = await runCommand(
      {
        dir,
        onStart: () => runs.started(),
        ...(given.pty ? { argv: named(argv, argv0), terminal: true } : { argv, ...truthy({ argv0 }) }),
        cwd: held.use,
        env,
        key,
        timeoutMs: (given.timeout_s ?? DEFAULT_S) * 1000,
        place,
        ...truthy({ end, limits, apart: given.apart }),
      },
      signal,
    ).finally(() => runs.over(key));
    return toResult(given, ended, held.path, { hasNetwork, ...waysOn(place) });
  };
  /** What became of a command in the foreground whose end nobody recorded. */
  const recovered = async (
    given: Given,
    place: ToolPlace,
    key: string,
    left: LeftCall,
  ): Promise<Probed<ToolResult>> => {
    const dir = left.sameBoot ? await runs.begun(key) : undefined;
    if (dir === undefined) {
      await endRun({ key });
      return left.sameBoot && runs.isLasting ? { never: true } : undefined;
    }
    const { apart, pty: terminal } = given;
    const timeoutMs = (given.timeout_s ?? DEFAULT_S) * 1000;
    const how = truthy({ apart, terminal });
    const ended = await recoverCommand({ dir, key, place, timeoutMs, env: {}, ...how }, left.signal);
    const room = await sandbox?.room(place.workspace, place.caller);
    const about = { hasNetwork: hasNetwork(room), ...waysOn(place), note: AFTER_RESTART };
    return ended && { ok: toResult(given, ended, resolve(place.workspace, given.cwd ?? "."), about) };
  };
  const inBackground = async (starting: Starting, key: string): Promise<ToolResult> => {
    const id = processes!.name();
    const { argv, argv0, env, end, limits } = await confined(starting, id);
    const { given, held, place } = starting;
    const { command } = given;
    const start = { key, command, argv: named(argv, argv0), env, cwd: held.use, caller: place.caller };
    return started(await processes!.start(id, { ...start, ...defined({ stop: end, limits }) }));
  };
  return {
    spec: {
      name: "exec",
      description: `Run a command with bash in the workspace, in a fresh shell without input; all it started ends with it. Shows up to ${SHOWN.toLocaleString("en-US")} characters, the rest is in a file. Use the file tools for files.`,
      input: {
        type: "object",
        properties: {
          command: { type: "string", description: "one line or several" },
          cwd: { type: "string", description: "folder below the workspace" },
          timeout_s: { type: "integer", description: `seconds; default ${DEFAULT_S}, max ${MOST_S}` },
          pty: { type: "boolean", description: "for programs that want a terminal" },
          ...(processes
            ? {
                background: {
                  type: "boolean",
                  description: "for servers and work of minutes: it goes on, and its end comes as a message",
                },
              }
            : {}),
        },
        required: ["command"],
      },
    },
    repeat: "never",
    // Whether a folder exists is looked up while planning.
    opensFiles: (input) => (input as { cwd?: unknown } | null)?.cwd !== undefined,
    async plan(input, place) {
      const given = checked(input, processes !== undefined);
      const { command, cwd = "." } = given;
      try {
        return await inDirectory(place, cwd, async (held) => {
          const prepared = await prepare(command, where(held));
          const { argv, argv0, env, shell, files } = prepared;
          const room = await sandbox?.room(held.home, place.caller);
          // The files its patterns are about are those of the other machine.
          if (room?.name === "ssh") delete shell.settled;
          const names = Object.keys(granted(place));
          const whole = spelt(prepared.said);
          const loads = loadsCode(shell);
          const tree = loads
            ? await codeTree(held.root === held.home ? [held.home] : [held.home, held.root])
            : undefined;
          const looks = new Looks();
          const places = listPlaces(shell.commands, held.path, held.home);
          const around = { places, home: held.home, looks };
          const links = await linksOnTheWay(shell.commands, around);
          if (links.length > 0) shell.links = links;
          const followed = followedIn(links, held);
          if (looks.isCut) shell.isCut = true;
          const named = await namedFiles(shell.commands, around);
          await lookAtGlued(shell.commands, around);
          const hardLinks = looks.hardLinked().filter((path) => isIn(path, held));
          if (hardLinks.length > 0) shell.hardLinks = hardLinks;
          const isUnbound = looks.isCut || (loads && !tree?.isWhole);
          const below = [
            ...(loads ? [tree === undefined ? NOT_COVERED : tree.isWhole ? COVERED : PARTLY_COVERED] : []),
            ...(names.length ? [`[with the secrets ${names.join(", ")}]`] : []),
            placed(given, held.path, room),
          ];
          return {
            tool: "exec",
            risk: "exec" as const,
            targets: [...listTargets(prepared, held), ...followed, ...describePlace(room)],
            shown: [...show(prepared), ...below].join("\n"),
            ...(whole.length > SHOWN_WHOLE ? { whole: [asCommand(whole), ...notes(shell), ...below].join("\n") } : {}),
            ...(loads ? { once: ONCE } : {}),
            ...truthy({ unbound: isUnbound }),
            ...truthy({ starts: given.background }),
            binding: {
              argv: [...argv],
              argv0: argv0 ?? null,
              timeout_s: given.timeout_s ?? DEFAULT_S,
              background: given.background ?? false,
              pty: given.pty ?? false,
              cwd: held.path,
              cwd_id: held.identity,
              env,
              secrets: names,
              sandbox: room ? boundTo(room) : null,
              files,
              links: followed,
              ...(loads ? { tree: tree?.hash ?? null } : {}),
              ...truthy({ named }),
              settings: shell.settings ?? [],
            },
            shell,
          };
        });
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== "PATH_OUTSIDE") throw error;
        return {
          tool: "exec",
          risk: "exec" as const,
          targets: [command],
          shown: `${asCommand(elide(command, []))}\n${placed(given, cwd)}`,
          binding: { command, cwd },
          outside: error.message,
        };
      }
    },
    async run(input, place, key, signal) {
      const given = checked(input, processes !== undefined);
      signal.throwIfAborted();
      return inDirectory(place, given.cwd ?? ".", async (held) => {
        const start = chooseStart(await prepare(given.command, where(held)), place);
        const go = (at: Held) => {
          const starting = { given, held: at, place, start };
          return given.background ? inBackground(starting, key) : inForeground(starting, key, signal);
        };
        if (start.cwd === held.path) return go(held);
        return inDirectory(place, start.cwd, (at) => (at.path === start.cwd ? go(at) : Promise.reject(moved())));
      });
    },
    /** What still runs is waited for; of what nobody can tell, whatever is left is ended, so that it is over for sure. */
    async probe(input, place, key, left) {
      const given = checked(input, processes !== undefined);
      if (!given.background) return recovered(given, place, key, left);
      const known = await processes!.became(key, left);
      return known && "ok" in known ? { ok: started(known.ok) } : known;
    },
    settled: (_input, key) => runs.settled(key),
  };
}

type Given = ReturnType<typeof checked>;

type Start = Pick<Prepared, "argv" | "argv0" | "env"> & { cwd: string };

interface Starting {
  given: Given;
  held: Held;
  place: ToolPlace;
  start: Start;
}

/** What a rule allowed is what runs: for a settled command the text that was judged, not the one that was typed. */
function chooseStart({ argv, argv0, env, settled, shell }: Prepared, { runsSettled }: ToolPlace): Start {
  if (runsSettled === undefined) return { argv, ...defined({ argv0 }), env, cwd: shell.cwd };
  if (!settled || shell.settled?.run !== runsSettled) throw moved();
  return { argv: [systemShell(), "-c", runsSettled], env: settled, cwd: shell.settled.cwd };
}

function moved(): AppError {
  return wrongInput("The command's files changed before it ran. Call it again.");
}

/** A guest's command gets none, whoever allows it: it would show them, and no redactor knows every disguise. */
function grantedTo({ caller }: ToolPlace, secrets: ExecOptions["secrets"]): ReturnType<NonNullable<typeof secrets>> {
  return caller.authority === "stranger" ? {} : (secrets?.(caller.agent) ?? {});
}

/** The last line a person reads: where, how long, and what shuts it in. */
function placed({ timeout_s = DEFAULT_S, background, pty }: Given, path: string, room?: SandboxRoom): string {
  const long = background ? "in the background" : `up to ${timeout_s} s`;
  return `[in ${visibleLine(path)}, ${long}${pty ? ", on a terminal" : ""}${room ? `, ${visibleLine(room.where)}` : ""}]`;
}

const ONCE = "It can only be allowed once: it runs code in the workspace, which can change.";
const COVERED = "[asks again if anything in the workspace changes before it runs; not checked: .git]";
const PARTLY_COVERED =
  "[asks again if anything in the workspace changes before it runs; not checked: .git, and part of what is installed (node_modules, virtual environments; too many files), except that it asks again if a tool changes anything here]";
const NOT_COVERED =
  "[asks again if a file it names changes or a tool changes anything here before it runs; not checked: changes that others make to the files it loads; the workspace has too many]";

/** Somebody who said yes to a sandbox did not say yes to none, nor to another machine or image. */
function boundTo({ name, where, rules }: SandboxRoom): JsonObject {
  // Why there is no sandbox may be said differently from one moment to the next.
  return {
    name,
    where: name === "none" ? "" : where,
    network: rules.network,
    writable: [...rules.writable],
    readable: [...rules.readable],
  };
}

/** Without a sandbox, and on another machine, commands have whatever network is there. */
function hasNetwork(room: SandboxRoom | undefined): boolean {
  return room === undefined || room.name === "none" || room.name === "ssh" || room.rules.network;
}

/** What "allow always" keeps of the place: another host or another image asks again. */
function describePlace(room: SandboxRoom | undefined): string[] {
  if (room === undefined || room.name === "bubblewrap") return [];
  return [room.name === "none" ? UNCONFINED : room.where];
}

function started({ id, pid }: SeenProcess): ToolResult {
  return {
    text: `Started in the background as ${id}. You'll get a message when it ends, so don't wait for it. To look at it, use process.`,
    meta: { id, pid },
  };
}

/** For who reads the result of a command that outlived its starter. */
const AFTER_RESTART = "Lares was restarted while it ran";

/** What the command ran in, as far as it explains how it went. */
interface Circumstances {
  hasNetwork: boolean;
  mayStay: boolean;
  mayFetch: boolean;
  note?: string;
}

function toResult(given: Given, ended: EndedRun, cwd: string, about: Circumstances): ToolResult {
  const timeoutS = given.timeout_s ?? DEFAULT_S;
  const next = isFine(ended) ? [] : adviceFor(ended, { ...about, timeoutS, mostS: MOST_S });
  const rest = next.map((line) => `\n[${line}]`).join("");
  const text = given.apart && isFine(ended) ? ended.output.text : render(ended, about.note) + rest;
  return { text, ...(isFine(ended) ? {} : { isError: true }), meta: toMeta(ended, cwd) };
}

function isFine({ how, code }: EndedRun): boolean {
  return how === "exited" && code === 0;
}

function toMeta(ended: EndedRun, cwd: string): JsonObject {
  const { code, signal, how, ms, output, leftovers } = ended;
  const meta: JsonObject = { exit: code, signal, how, ms, bytes: output.bytes, leftovers, cwd };
  return output.spill ? { ...meta, spill: output.spill } : meta;
}

function checked(input: Parameters<Tool["plan"]>[0], mayStay: boolean) {
  const parsed = parseInput("exec", schema, input);
  if (parsed.background && !mayStay)
    throw wrongInput(
      "exec: Commands can't run in the background here.",
      "Leave out background and set timeout_s instead.",
    );
  if (parsed.background && (parsed.pty || parsed.timeout_s)) {
    throw wrongInput(
      "exec: background can't be combined with pty or timeout_s.",
      "Leave those out; to stop the command later, use process with action kill.",
    );
  }
  if (parsed.command.includes("\0"))
    throw wrongInput('exec: Field "command" contains a NUL character.', "Send the command without it.");
  if (parsed.command.length > MOST_CHARACTERS) {
    throw wrongInput(
      `exec: Field "command" has ${parsed.command.length} characters; at most ${MOST_CHARACTERS} are allowed.`,
      "Put it in a script with write, then run that.",
    );
  }
  return parsed;
}

function show({ shell, said }: Prepared): string[] {
  const parts = shell.commands.flatMap(({ words, redirects }) => [
    words[0]!.literal ?? words[0]!.guess,
    ...redirects.map(({ operator, target }) => `${operator} ${target.guess}`),
  ]);
  return [asCommand(elide(said, parts)), ...notes(shell)];
}

/** What "allow always" keeps: exactly this, here, with these contents. */
/**
 * The links in the agent's folders that its words go over. Somebody who said yes to `rm -rf build` did not say yes to where a link
 * named `build` leads later.
 */
function followedIn(links: readonly Link[], held: Held): string[] {
  return links
    .filter(({ from }) => isIn(from, held))
    .map(({ from, to }) => `${from} -> ${to}`)
    .sort();
}

function isIn(path: string, { home, roots }: Held): boolean {
  return [home, ...roots].some((folder) => path.startsWith(`${folder}/`));
}

function listTargets({ argv, files }: Prepared, { path, home }: Held): string[] {
  const here = path === home ? [] : [`in ${path}`];
  return [...argv, ...here, ...files.map((file) => `${file.path} sha256 ${file.sha256}`)];
}

interface Held {
  /** Real path, for people. */
  path: string;
  /** Device and inode: what the approval is bound to. */
  identity: string;
  /** What the child changes into: the open directory itself. */
  use: string;
  /** Real path of the workspace. */
  home: string;
  /** The folder of the agent's it lies in: the workspace, or one besides it. */
  root: string;
  roots: readonly string[];
}

async function inDirectory<T>(place: ToolPlace, cwd: string, act: (held: Held) => Promise<T>): Promise<T> {
  const at = rooted(place, cwd);
  const inside = await openInside(at.root, at.path);
  try {
    const dir = await orNear(place, cwd, async () => inside.directory());
    const [identity, use, home] = await Promise.all([dir.identity(), dir.self(), realpath(place.workspace)]);
    return await act({ path: inside.absolute, identity, use, home, root: inside.root, roots: place.roots ?? [] });
  } finally {
    await inside.close();
  }
}

function render({ output, errors = "", code, signal, how, why, leftovers, ms }: EndedRun, note?: string): string {
  const took = `${(ms / 1000).toFixed(1)} s`;
  const end =
    how === "timeout"
      ? `timed out and was ended with all its processes, ${took}`
      : how === "aborted"
        ? `stopped by request with all its processes, ${took}`
        : how === "limit"
          ? `ended with all its processes: ${why}; ${took}`
          : signal
            ? `killed by ${signal}, ${took}`
            : `exit ${code}${nameSignal(code)}, ${took}`;
  const left =
    leftovers > 0 ? `; ${leftovers} background ${leftovers === 1 ? "process was" : "processes were"} ended` : "";
  const text = [output.text, errors].filter(Boolean).join("\n");
  const gap = text === "" || text.endsWith("\n") ? "" : "\n";
  return `${text}${gap}[${end}${left}${note ? `; ${note}` : ""}]`;
}

/** Shells say 128 and the number of the signal that ended a program. */
function nameSignal(code: number | null): string {
  const name = Object.entries(constants.signals).find(([, number]) => 128 + number === code)?.[0];
  return name ? ` (${name})` : "";
}
