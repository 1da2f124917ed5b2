/** Judges a string and, when the gate allows it, runs it for real: the canary must not have run. Shared by tests and run.ts. */
import type { Case } from "./cases.ts";
import type { Ground } from "./support.ts";

/** Undefined when all is well, else what is wrong. */
export async function check(g: Ground, [command, want]: Case): Promise<string | undefined> {
  const { verdict, because, plan, settled } = await g.judge(command).catch((error: Error) => ({
    verdict: "deny" as const,
    because: error.message,
    plan: undefined,
    settled: undefined,
  }));
  const fits = want === "no" ? verdict !== "allow" : verdict === want;
  const at = `${JSON.stringify(command)}: ${verdict} (${because})`;
  if (!fits) return `${at}, wanted ${want}`;
  if (because.length < 5 || because.includes("\n")) return `${at}: no sentence`;
  // The general oracle: an approval that could start the canary shows its name.
  if (verdict === "ask" && /pwn|cAB3AG4A/.test(command) && !plan?.shown.includes("pwn"))
    return `${at}: the canary is not shown`;
  if (verdict === "allow") {
    await g.run(command, settled && plan!.shell!.settled!.run);
    if (g.pwned()) return `${at}: the canary ran`;
  }
  return undefined;
}
