/**
 * Codex, driven over its app server, or over `exec` where a version has none. A program for each run: what outlives a run is the thread, in
 * the home that the run was given.
 */
import type {
  RunPorts,
  RunRequest,
  RuntimeAdapter,
  RuntimeCapabilities,
  RuntimeProbe,
} from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { defined } from "../../../core/kit/index.ts";
import { RunChild } from "../child.ts";
import { absent, claim } from "../claims.ts";
import type { DriverParts } from "../driver.ts";
import { askProgram, findProgram, readVersion } from "../program.ts";
import { absentWords, runWords } from "../words.ts";
import { ExecSession, listExecArguments } from "./exec-session.ts";
import { makePlaces } from "./home.ts";
import { CodexSession } from "./session.ts";
import { type CodexRun, choosePlaces, isHomeInTemp, listEnvironment, listSettings } from "./settings.ts";
import { RUNTIME } from "./token.ts";
import { INSTALL, TITLE, codexWords as words } from "./words.ts";

export interface CodexParts extends DriverParts {
  /** The home with a login of Codex' own, where its model calls don't go through Lares. */
  login?: string;
}

/** Marks a version that has no app server: it can do less, so what was seen of one says nothing about the other. */
const EXEC_ONLY = " (exec)";

export function makeCodexAdapter(parts: CodexParts): RuntimeAdapter {
  /** As the last look found it. */
  let known: string | null = null;
  const find = () => findProgram("codex", parts.searchPath());

  async function prepare(request: RunRequest, ports: RunPorts, signal: AbortSignal) {
    const program = await find();
    if (program === undefined) throw new AppError("NOT_READY", { message: runWords.missing(TITLE, INSTALL) });
    known ??= await look(program, parts, signal).catch(() => null);
    const isExec = known?.endsWith(EXEC_ONLY) ?? false;
    const places = choosePlaces(request, ports);
    if (isHomeInTemp(places)) throw new AppError("NOT_READY", { message: words.homeInTemp(places.home) });
    const cwd = await makePlaces(places);
    const run: CodexRun = { request, ports, places: { ...places, cwd }, tag: parts.tag, asks: !isExec };
    const args = isExec ? listExecArguments(run) : ["app-server", ...listSettings(run)];
    const command = await ports.confine({ argv: [program, ...args], cwd, env: listEnvironment(run) });
    const key = ports.env[parts.tag] ?? request.run;
    const child = new RunChild({ ...command, key, endsWithInput: true }, parts);
    return { isExec, session: { run, child, clock: parts.clock, version: known } };
  }

  return {
    name: RUNTIME,
    async probe(signal, patienceMs): Promise<RuntimeProbe> {
      const program = await find();
      if (program === undefined) return { state: "missing", fix: runWords.missing(TITLE, INSTALL) };
      try {
        const version = await look(program, parts, signal, patienceMs);
        known = version;
        const isIn = await isLoggedIn(program, parts, signal);
        return isIn ? { state: "ready", version } : { state: "needs-login", version, fix: words.login };
      } catch (error) {
        return { state: "broken", fix: runWords.broken(TITLE, (error as Error).message.split("\n")[0]!) };
      }
    },
    capabilities: (version) => (version.endsWith(EXEC_ONLY) ? EXEC_CAN : APP_SERVER_CAN),
    async open(request, ports, signal) {
      const { isExec, session: given } = await prepare(request, ports, signal);
      const session = isExec ? new ExecSession(given) : new CodexSession(given);
      await session.open(signal);
      return session;
    },
    async reattach(token, request, ports, signal) {
      const { isExec, session: given } = await prepare(request, ports, signal);
      // Its program ended with the process that started it. Whether the turn ended before, the thread says.
      if (isExec) return null;
      const session = new CodexSession(given);
      return (await session.recall(token, signal)) ? session : null;
    },
  };
}

/** The version, marked where it has no app server. Throws for a program that prints something else. */
async function look(program: string, parts: CodexParts, signal: AbortSignal, patienceMs?: number): Promise<string> {
  const more = { folders: parts.searchPath(), signal, ...defined({ patienceMs }) };
  const [said, help] = await Promise.all([
    readVersion({ argv: [program, "--version"], ...more }),
    askProgram({ argv: [program, "app-server", "--help"], ...more }),
  ]);
  const version = said === "unknown" ? said : /(?:^|\s)(\d{1,6}\.\d{1,6}\.\d{1,6}\S{0,40})/.exec(said)?.[1];
  if (version === undefined) throw new Error(words.garbled(said.slice(0, 80)));
  // An older one takes the words for a prompt, and prints its general help.
  const isOld = help.code !== null && !/^Usage:.*\bapp-server\b/m.test(help.stdout);
  return isOld ? `${version}${EXEC_ONLY}` : version;
}

async function isLoggedIn(program: string, { login, searchPath }: CodexParts, signal: AbortSignal): Promise<boolean> {
  if (login === undefined) return true;
  const env = { CODEX_HOME: login, HOME: login };
  const { code } = await askProgram({ argv: [program, "login", "status"], folders: searchPath(), env, signal });
  return code === 0 || code === null;
}

const APP_SERVER_CAN: RuntimeCapabilities = {
  class: "one-shot",
  stream: claim("token"),
  thinking: claim(true),
  steer: claim("mid-turn"),
  interrupt: claim(true),
  resume: claim("same-host"),
  approvals: claim({ covers: "every-call", denied: "goes-on", waits: "forever" }),
  questions: claim(true),
  mcp: claim(["http"]),
  usage: claim({ tokens: "per-call", money: false }),
  proxy: claim(["openai-responses"]),
  rateLimits: claim(true),
  // With models that it knows it can start others, which no setting turns off. What those ask is refused.
  children: claim("hidden"),
  // Not `own`: a command that is allowed may leave its sandbox, and doesn't have to say so.
  boundary: claim(["none", "worktree", "sandbox"]),
  home: claim({ scope: "identity", keeps: ["sessions"] }),
  ownScheduler: absent(absentWords.startsAlone),
  ownChannels: absent(absentWords.startsAlone),
};

const EXEC_CAN: RuntimeCapabilities = {
  ...APP_SERVER_CAN,
  stream: claim("block"),
  steer: absent(absentWords.execOnly),
  interrupt: absent(absentWords.execOnly),
  approvals: absent(absentWords.execOnly),
  questions: absent(absentWords.execOnly),
  usage: claim({ tokens: "per-run", money: false }),
  // It never asks, so nothing leaves its sandbox.
  boundary: claim(["own", "sandbox"]),
};
