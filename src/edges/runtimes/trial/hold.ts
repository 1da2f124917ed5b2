/** Holds a trial: a folder that goes with it, a door to the scripted model, and the runtime's own program in the boundary there is. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type {
  RunSession,
  RunToken,
  RunTools,
  RuntimeAdapter,
  RuntimeCapabilities,
} from "../../../core/contracts/index.ts";
import { asId, sessionKeys, type TurnId } from "../../../core/domain/index.ts";
import type { RuntimeDriver } from "../driver.ts";
import { makeFolders, makeTrialWork, removeTrial } from "../folders.ts";
import type { HostParts } from "../host.ts";
import { type BeginRun, lend } from "../lend.ts";
import { ModelProxy } from "../proxy/door.ts";
import type { ProxyLedger } from "../proxy/ports.ts";
import { makeTrialScript } from "./script.ts";
import { makeMarks, type SeenInTrial, tryOut } from "./trial.ts";

/** A cold start on a busy machine, and some calls. */
const DEADLINE_MS = 120_000;
const QUIET_MS = 60_000;
/** No runtime knows it, so none changes its tools for it. */
const MODEL = "lares/script";

const NO_TOOLS: RunTools = { specs: [], call: () => Promise.reject(new Error("a trial lends no tools")) };
/** The script costs nothing. */
const FREE: ProxyLedger = { hold: async () => ({ settle: () => [], drop() {}, release() {} }) };

export async function holdTrial(
  parts: HostParts,
  given: {
    driver: RuntimeDriver;
    adapter: RuntimeAdapter;
    can: RuntimeCapabilities;
    boundary: "sandbox" | "none";
    run: string;
    /** Ends the run with the host at the latest. */
    keepOpen(session: RunSession, closing: readonly (() => void)[]): { release(): Promise<void> };
  },
  signal: AbortSignal,
): Promise<SeenInTrial[]> {
  const { home, clock, log, models } = parts;
  const { driver, adapter, can, boundary, run } = given;
  const marks = makeMarks();
  const work = makeTrialWork(home, driver.name, { name: marks.note, text: "Nothing to see.\n" });
  const { heard, script } = makeTrialScript(marks, work);
  const proxy = new ModelProxy({
    relay: models.scripted(script),
    listModels: () => [{ id: MODEL }],
    ledger: FREE,
    clock,
    log,
  });
  const turn = asId<TurnId>(run);
  const open = async (text: string, resume: RunToken | null) => {
    const of = {
      run,
      turn,
      session: sessionKeys.main("trial"),
      agent: "trial",
      runtime: driver.name,
      attempt: 1,
      lastSeq: 0,
      prompt: { instructions: "", text },
      workspace: work,
      trust: "own" as const,
      model: MODEL,
      limits: { deadline: clock.now() + DEADLINE_MS, quietMs: QUIET_MS, toolCalls: null },
      resume,
      listener: {},
      // Not tried: what isn't lent can't do anything.
      tools: NO_TOOLS,
      isServing: () => false,
    };
    const folders = makeFolders(home, { agent: null, runtime: driver.name, run });
    const plan = { boundary, home: can.home.proof === "absent" ? ("thrown-away" as const) : ("kept" as const) };
    const begin: BeginRun = (one, request, ports) => one.open(request, ports, signal);
    const lent = (await lend(parts, { of, adapter, can, plan, folders, readable: [], door: () => proxy, begin }))!;
    return { session: lent.session, ...given.keepOpen(lent.session, lent.closing) };
  };
  try {
    const exists = (name: string) => existsSync(join(work, name));
    return await tryOut({ clock, can, marks, heard, title: driver.title, exists, open });
  } finally {
    await proxy.close();
    removeTrial(home, driver.name);
  }
}
