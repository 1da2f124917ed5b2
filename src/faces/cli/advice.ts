/** What doesn't work in the settings as they stand: asked of the running Lares, else judged here. The one path for all commands. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { AdviceContext, ConfigAdvice } from "../../core/contracts/index.ts";
import { standing } from "../../ground/config/index.ts";
import type { Context } from "./context.ts";

/** It tries addresses and the sandbox, each for a few seconds at most. */
const ANSWER_MS = 15_000;

/** The running Lares knows which keys and variables it has; this terminal may have others. */
export async function adviceNow(ctx: Context, config: AdviceContext["config"]): Promise<readonly ConfigAdvice[]> {
  const schema = await ctx.ports.configSchema();
  return (
    (await askGateway(ctx)) ?? standing(await schema.advise(adviceContext(config, ctx.home, ctx.ports.env.variables)))
  );
}

async function askGateway(ctx: Context): Promise<readonly ConfigAdvice[] | undefined> {
  if (!existsSync(join(ctx.home, "gateway.json"))) return undefined;
  try {
    const { problems } = await ctx.rpc.call("config.check", {}, AbortSignal.timeout(ANSWER_MS));
    return problems.map(({ path, message, note }) => ({ path, message, ...(note ? { weight: "note" as const } : {}) }));
  } catch {
    // It is down, hangs or won't answer this token: then what can be seen from here has to do.
    return undefined;
  }
}

/** What advice depends on, when this terminal asks and not the running gateway. */
export function adviceContext(config: AdviceContext["config"], home: string, env: AdviceContext["env"]): AdviceContext {
  return { config, env, home, folders: agentFolders(home), running: false, now: Date.now() };
}

function agentFolders(home: string): string[] {
  try {
    return readdirSync(join(home, "agents"));
  } catch {
    return [];
  }
}
