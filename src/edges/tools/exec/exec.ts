/**
 * `exec`: a shell command, in the foreground or in the background. `repeat` is `never`: nobody knows what a second run would
 * do. Both run under a supervisor and are found again by their key after a crash.
 */
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { ActionPlan, LeftCall, Probed, Tool, ToolPlace, ToolResult } from "../../../core/contracts/index.ts";
import { AppError, isSingleTask } from "../../../core/domain/index.ts";
import { defined, truthy } from "../../../core/kit/index.ts";
import { wrongInput } from "../paths/index.ts";
import { keepLimits, type Processes, type SeenProcess } from "../process/index.ts";
import { type Confinement, named, type SandboxRoom } from "../sandbox/index.ts";
import { SHOWN } from "./capture.ts";
import { type Held, inDirectory } from "./directory.ts";
import { type Locale, systemShell } from "./environment.ts";
import { checked, DEFAULT_S, type ExecInput, MOST_S } from "./input.ts";
import { planCommand, planOutside } from "./plan.ts";
import { type Prepared, prepare } from "./prepare.ts";
import { endRun } from "./processes.ts";
import { hungUp } from "./pty.ts";
import { recoverCommand } from "./recover.ts";
import { toResult } from "./result.ts";
import { runCommand } from "./run.ts";
import { CommandRuns } from "./runs.ts";
import { AFTER_RESTART, FILES_CHANGED, startedInBackground, TERMINAL_ENDED } from "./words.ts";

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
  const { processes, runs = new CommandRuns() } = options;
  const mayStay = processes !== undefined;
  const commands = new Commands(options, runs);
  return {
    spec: describe(mayStay),
    repeat: "never",
    // Whether a folder exists is looked up while planning.
    opensFiles: (input) => (input as { cwd?: unknown } | null)?.cwd !== undefined,
    async plan(input, place) {
      const given = checked(input, mayStay);
      try {
        return await inDirectory(place, given.cwd ?? ".", (held) => commands.plan(given, held, place));
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== "PATH_OUTSIDE") throw error;
        return planOutside(given, error.message);
      }
    },
    async run(input, place, key, signal) {
      const given = checked(input, mayStay);
      signal.throwIfAborted();
      return inDirectory(place, given.cwd ?? ".", async (held) => {
        const start = chooseStart(await commands.prepare(given, held), place);
        const go = (at: Held) => commands.start({ given, held: at, place, start }, key, signal);
        if (start.cwd === held.path) return go(held);
        return inDirectory(place, start.cwd, (at) => (at.path === start.cwd ? go(at) : Promise.reject(moved())));
      });
    },
    /** What still runs is waited for; of what nobody can tell, whatever is left is ended, so that it is over for sure. */
    async probe(input, place, key, left) {
      const given = checked(input, mayStay);
      if (!given.background) return commands.recover(given, place, key, left);
      const known = await processes!.became(key, left);
      return known && "ok" in known ? { ok: started(known.ok) } : known;
    },
    settled: (_input, key) => runs.settled(key),
  };
}

/** Not by `toLocaleString`: the first one takes some milliseconds, and this is made at every start. */
const SHOWN_THOUSANDS = SHOWN / 1000;

function describe(mayStay: boolean): Tool["spec"] {
  const background = {
    type: "boolean",
    description: "for servers and long work: it keeps running, and its end comes as a message",
  } as const;
  return {
    name: "exec",
    description: `Run a command with bash in the workspace, in a fresh shell without input; all it starts ends with it. Shows up to ${SHOWN_THOUSANDS},000 characters, the rest is in a file. Use the file tools for files.`,
    input: {
      type: "object",
      properties: {
        command: { type: "string", description: "one line or several" },
        cwd: { type: "string", description: "folder below the workspace" },
        timeout_s: { type: "integer", description: `seconds; default ${DEFAULT_S}, max ${MOST_S}` },
        pty: { type: "boolean", description: "for programs that need a terminal" },
        ...(mayStay ? { background } : {}),
      },
      required: ["command"],
    },
  };
}

/** Commands as this configuration runs them: with its sandbox, secrets and places to keep what runs. */
class Commands {
  readonly #options: ExecOptions;
  readonly #runs: CommandRuns;
  readonly #locale: Locale;

  constructor(options: ExecOptions, runs: CommandRuns) {
    const {
      path: _path,
      sandbox: _sandbox,
      secrets: _secrets,
      processes: _processes,
      runs: _runs,
      ...locale
    } = options;
    this.#options = options;
    this.#runs = runs;
    this.#locale = locale;
  }

  prepare({ command }: ExecInput, { path, home, roots }: Held): Promise<Prepared> {
    const where = { cwd: path, home, roots, locale: this.#locale, ...truthy({ path: this.#options.path }) };
    return prepare(command, where);
  }

  async plan(given: ExecInput, held: Held, place: ToolPlace): Promise<ActionPlan> {
    const prepared = await this.prepare(given, held);
    const room = await this.#options.sandbox?.room(held.home, place.caller);
    return planCommand({ given, prepared, held, room, secrets: Object.keys(this.#granted(place)) });
  }

  start(starting: Starting, key: string, signal: AbortSignal): Promise<ToolResult> {
    return starting.given.background ? this.#inBackground(starting, key) : this.#inForeground(starting, key, signal);
  }

  /** The outcome of a foreground command whose end nobody recorded. */
  async recover(given: ExecInput, place: ToolPlace, key: string, left: LeftCall): Promise<Probed<ToolResult>> {
    const runs = this.#runs;
    const dir = left.sameBoot ? await runs.begun(key) : undefined;
    if (dir === undefined) {
      await endRun({ key });
      return left.sameBoot && runs.isLasting ? { never: true } : undefined;
    }
    const { apart, pty: terminal } = given;
    const timeoutMs = (given.timeout_s ?? DEFAULT_S) * 1000;
    const how = truthy({ apart, terminal });
    const ended = await recoverCommand({ dir, key, place, timeoutMs, env: {}, ...how }, left.signal);
    const room = await this.#options.sandbox?.room(place.workspace, place.caller);
    const note = hungUp(dir) ? TERMINAL_ENDED : AFTER_RESTART;
    const about = { hasNetwork: hasNetwork(room), ...this.#waysOn(place), note };
    return ended && { ok: toResult(given, ended, resolve(place.folder ?? place.workspace, given.cwd ?? "."), about) };
  }

  async #inForeground(starting: Starting, key: string, signal: AbortSignal): Promise<ToolResult> {
    const { given, held, place } = starting;
    const { argv, argv0, env, end, limits, hasNetwork } = await this.#confine(starting, key);
    const runs = this.#runs;
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
    return toResult(given, ended, held.path, { hasNetwork, ...this.#waysOn(place) });
  }

  async #inBackground(starting: Starting, key: string): Promise<ToolResult> {
    const processes = this.#options.processes!;
    const id = processes.name();
    const { argv, argv0, env, end, limits } = await this.#confine(starting, id);
    const { given, held, place } = starting;
    const { command } = given;
    const start = { key, command, argv: named(argv, argv0), env, cwd: held.use, caller: place.caller };
    return started(await processes.start(id, { ...start, ...defined({ stop: end, limits }) }));
  }

  /** What will be started, in the room where it runs. */
  async #confine({ given, held, place, start: { argv, argv0, env } }: Starting, key: string) {
    const revealed = Object.entries(this.#granted(place)).map(([name, secret]) => [name, secret.reveal()] as const);
    const room = await this.#options.sandbox?.room(held.home, place.caller);
    const command = {
      argv,
      ...defined({ argv0 }),
      cwd: held.path,
      // What is ours stands: a secret named PATH changes nothing.
      env: { ...Object.fromEntries(revealed), ...env },
      key,
      ...truthy({ survives: given.background, terminal: given.pty }),
    };
    const wrapped = room ? await room.wrap(command) : command;
    return { end: undefined, limits: room?.rules.limits, hasNetwork: hasNetwork(room), ...wrapped };
  }

  #granted(place: ToolPlace) {
    return grantedTo(place, this.#options.secrets);
  }

  /** What the advice to the caller may suggest: only tools they are offered. */
  #waysOn({ caller: { session, tools } }: ToolPlace) {
    const has = (tool: string) => tools === undefined || tools.includes(tool);
    const mayStay = this.#options.processes !== undefined && !isSingleTask(session) && has("process");
    return { mayStay, mayFetch: has("web_fetch") };
  }
}

type Start = Pick<Prepared, "argv" | "argv0" | "env"> & { cwd: string };

interface Starting {
  given: ExecInput;
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
  return wrongInput(FILES_CHANGED);
}

/** A guest's command gets none, no matter who allows it: it could print them, and no redactor knows every encoding. */
function grantedTo({ caller }: ToolPlace, secrets: ExecOptions["secrets"]): ReturnType<NonNullable<typeof secrets>> {
  return caller.authority === "stranger" ? {} : (secrets?.(caller.agent) ?? {});
}

/** Without a sandbox, and on another machine, commands have whatever network is there. */
function hasNetwork(room: SandboxRoom | undefined): boolean {
  return room === undefined || room.name === "none" || room.name === "ssh" || room.rules.network;
}

function started({ id, pid }: SeenProcess): ToolResult {
  return {
    text: startedInBackground(id),
    meta: { id, pid },
  };
}
