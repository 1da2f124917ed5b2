/** npm, for packages that are no part of Lares and come into the home on request. No script of theirs runs. */
import { spawn } from "node:child_process";
import { defined } from "./defined.ts";

const PATIENCE_MS = 300_000;
/** Of what it says, the end is kept. */
const MOST_SAID = 4000;

/** `args`: the whole command behind `npm`, to be tried by hand. */
export async function installPackages(
  folder: string,
  packages: readonly string[],
  signal?: AbortSignal,
): Promise<{ ok: true } | { ok: false; why: string; args: readonly string[] }> {
  const args = ["install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", ...packages];
  const { code, said } = await run("npm", args, signal);
  return code === 0 ? { ok: true } : { ok: false, why: said.trim().split("\n").slice(-3).join(" "), args };
}

function run(
  program: string,
  args: readonly string[],
  signal: AbortSignal | undefined,
): Promise<{ code: number; said: string }> {
  return new Promise((resolve) => {
    let said = "";
    const child = spawn(program, args, {
      stdio: ["ignore", "pipe", "pipe"],
      timeout: PATIENCE_MS,
      ...defined({ signal }),
    });
    const keep = (chunk: Buffer) => {
      said = (said + chunk.toString("utf8")).slice(-MOST_SAID);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.once("error", (error) => resolve({ code: -1, said: error.message }));
    child.once("close", (code) => resolve({ code: code ?? -1, said }));
  });
}
