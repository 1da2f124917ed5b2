/**
 * The general oracle over generated strings: whatever the gate allows is run for real, and neither the canary may run nor a
 * file appear in the workspace; whatever it asks about shows the canary's name.
 */
import { readdirSync } from "node:fs";
import { random, shellString } from "./grammar.ts";
import { type Ground, LISTED } from "./support.ts";

const NAMES = [...LISTED, "pwn"];
const WORDS =
  "-o --output=f -exec pwn \\; -S --compress-program=pwn -c x a.txt -n -- -e -f -r -delete status log core.pager=pwn diff --ext-diff -O -T . -i FOO=1 -u - --files0-from=x -fprintf + {} -k1 -l -type f -name branch tag --exec=pwn HEAD -p -z -C --file=x -ok stash config".split(
    " ",
  );

export interface Oracle {
  allow: number;
  ask: number;
  deny: number;
  misses: string[];
}

export async function oracle(g: Ground, seed: number, count: number): Promise<Oracle> {
  const out: Oracle = { allow: 0, ask: 0, deny: 0, misses: [] };
  const before = readdirSync(g.workspace).join();
  for (let i = 0; i < count && out.misses.length === 0; i++) {
    const r = random(seed + i);
    const one = () => [r.pick(NAMES), ...Array.from({ length: r.below(5) }, () => r.pick(WORDS))].join(" ");
    const text = r.chance(50)
      ? shellString(r).replace(/p(\d+)/g, (_, n: string) => NAMES[Number(n) % NAMES.length]!)
      : one() + (r.chance(25) ? r.pick([" | ", "; ", " && ", " || ", "\n"]) + one() : "");
    if (text.trim() === "") continue;
    const { verdict, plan } = await g.judge(text);
    out[verdict]++;
    if (verdict === "ask" && /\bpwn\b/.test(text) && !plan.shown.includes("pwn")) out.misses.push(`not shown: ${text}`);
    if (verdict !== "allow") continue;
    await g.run(text);
    if (g.pwned()) out.misses.push(`the canary ran: ${text}`);
    if (readdirSync(g.workspace).join() !== before) out.misses.push(`it wrote a file: ${text}`);
  }
  return out;
}
