/** Asking a person yes or no. Nothing asks without a terminal (UI.md §8). */
import { createInterface } from "node:readline";
import type { Context } from "./context.ts";
import { usage } from "./exit.ts";
import { commonWords as words } from "./words/common.ts";

/** True when the person, or --yes, said so. Throws usage when nobody can be asked. */
export async function confirmed(ctx: Context, question: string): Promise<boolean> {
  if (ctx.options.yes) return true;
  if (!ctx.canAsk) throw usage(words.noTerminal, words.addYes);
  const { stdin, stderr } = ctx.ports;
  const rl = createInterface({ input: stdin, output: stderr, terminal: false });
  stderr.write(`${question} [y/N] `);
  try {
    const answer = await new Promise<string>((resolve) => {
      rl.once("line", resolve);
      rl.once("close", () => resolve(""));
    });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    rl.close();
  }
}
