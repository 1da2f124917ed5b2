/** What doesn't work in the settings as they stand: asked of the running Lares, else judged here. The one path for all commands. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { AdviceContext, ConfigAdvice } from "../../core/contracts/index.ts";
import { AppError } from "../../core/domain/index.ts";
import { standing } from "../../ground/config/index.ts";
import type { Context } from "./context.ts";

/** The running Lares knows which keys and variables it has; this terminal may have others. */
export async function adviceNow(ctx: Context, config: AdviceContext["config"]): Promise<readonly ConfigAdvice[]> {
  const asked = await askGateway(ctx);
  if (typeof asked === "object") return asked;
  const schema = await ctx.ports.configSchema();
  const seen = standing(await schema.advise(adviceContext(config, ctx.home, ctx.ports.env.variables)));
  return asked === undefined ? seen : [{ path: "gateway", message: asked, weight: "note" }, ...seen];
}

/** What it says; or why somebody who is there doesn't say anything. Nothing when it is down, or won't answer this token. */
async function askGateway(ctx: Context): Promise<readonly ConfigAdvice[] | string | undefined> {
  if (!existsSync(join(ctx.home, "gateway.json"))) return undefined;
  try {
    const { problems } = await ctx.rpc.call("config.check", {});
    return problems.map(({ path, message, note }) => ({ path, message, ...(note ? { weight: "note" as const } : {}) }));
  } catch (error) {
    return error instanceof AppError && error.details?.reason === "silent" ? error.message : undefined;
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
