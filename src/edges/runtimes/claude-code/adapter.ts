/** Claude Code, driven by its own protocol of JSON lines. A program for each run: what outlives a run is its conversation. */
import { randomUUID } from "node:crypto";
import type {
  RunRequest,
  RunToken,
  RuntimeAdapter,
  RuntimeCapabilities,
  RuntimeProbe,
} from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { defined } from "../../../core/kit/index.ts";
import { RunChild } from "../child.ts";
import { absent, claim } from "../claims.ts";
import type { DriverParts } from "../driver.ts";
import { findProgram, readVersion } from "../program.ts";
import { absentWords, runWords } from "../words.ts";
import { buildCommand } from "./command.ts";
import { COMMAND, INSTALL, NAME, TITLE } from "./names.ts";
import { ClaudeSession, TOKEN_FORM } from "./session.ts";
import { readTotals, type UsedByModel } from "./usage.ts";
import { claudeWords as words } from "./words.ts";

/** At the start of what it prints. */
const VERSION = /^\d{1,9}\.\d{1,9}\.\d{1,9}/;
/** The oldest that passes the contract and the conformance script. */
const LEAST = "2.1.100";

export function makeClaudeCodeAdapter(parts: DriverParts): RuntimeAdapter {
  return {
    name: NAME,
    probe: (signal, patienceMs) => probe(parts, signal, patienceMs),
    capabilities: () => CAPABILITIES,
    async open(request, ports, signal) {
      const { models } = ports;
      if (models === null) throw new AppError("NOT_READY", { message: words.noModels, hint: words.noModelsHint });
      const program = await findProgram(COMMAND, parts.searchPath());
      if (program === undefined) throw new AppError("NOT_READY", { message: runWords.missing(TITLE, INSTALL) });
      const { session, totals } = findConversation(request);
      const command = await ports.confine(buildCommand({ program, request, ports: { ...ports, models }, session }));
      const key = ports.env[parts.tag] ?? request.run;
      const child = new RunChild({ ...command, key, endsWithInput: true }, parts);
      const run = new ClaudeSession({ request, ports, child, clock: parts.clock, session, totals });
      await run.open(signal);
      return run;
    },
    // Its program ended with the process that started it: the conversation goes on in a new attempt, by its token.
    reattach: async () => null,
  };
}

async function probe(parts: DriverParts, signal: AbortSignal, patienceMs?: number): Promise<RuntimeProbe> {
  const folders = parts.searchPath();
  const program = await findProgram(COMMAND, folders);
  if (program === undefined) return { state: "missing", fix: runWords.missing(TITLE, INSTALL) };
  try {
    const said = await readVersion({ argv: [program, "--version"], folders, signal, ...defined({ patienceMs }) });
    const version = VERSION.exec(said)?.[0];
    // It needs no login: a run gets its key from us. A slow program is here, and which one it is, nobody knows yet.
    if (version === undefined) return { state: "ready", version: said };
    if (isOlder(version, LEAST)) return { state: "broken", version, fix: words.tooOld(version, LEAST) };
    return { state: "ready", version };
  } catch (error) {
    return { state: "broken", fix: runWords.broken(TITLE, (error as Error).message.split("\n")[0]!) };
  }
}

function isOlder(version: string, least: string): boolean {
  const given = version.split(".").map(Number);
  for (const [i, needed] of least.split(".").map(Number).entries()) {
    const part = given[i] ?? 0;
    if (part !== needed) return part < needed;
  }
  return false;
}

/** A new conversation has an id of ours, so that it can be found again from its first moment on. */
function findConversation({ resume }: RunRequest): { session: string; totals: UsedByModel } {
  if (!resume) return { session: randomUUID(), totals: {} };
  const { session, used } = readToken(resume);
  return { session, totals: readTotals(used) };
}

const SESSION_ID = /^[0-9a-f-]{36}$/;

function readToken({ runtime, form, state }: RunToken): { session: string; used: unknown } {
  const { session, used } = state;
  // It becomes an argument of the program.
  const isKnown = runtime === NAME && form === TOKEN_FORM && typeof session === "string" && SESSION_ID.test(session);
  if (!isKnown) throw new AppError("NOT_READY", { message: runWords.oldToken });
  return { session, used };
}

const CAPABILITIES: RuntimeCapabilities = {
  class: "one-shot",
  stream: claim("token"),
  thinking: claim(true),
  steer: claim("mid-turn"),
  interrupt: claim(true),
  resume: claim("same-host"),
  approvals: claim({ covers: "every-call", denied: "goes-on", waits: "forever" }),
  questions: claim(true),
  mcp: claim(["http"]),
  // Its money is the list price of its tokens, not what anybody paid.
  usage: claim({ tokens: "per-run", money: false }),
  proxy: claim(["anthropic"]),
  rateLimits: claim(true),
  children: absent(absentWords.childrenLeftOut),
  boundary: claim(["none", "worktree", "sandbox"]),
  home: claim({ scope: "identity", keeps: ["sessions"] }),
  ownScheduler: absent(absentWords.startsAlone),
  ownChannels: absent(absentWords.startsAlone),
};
