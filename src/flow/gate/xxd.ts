/**
 * `xxd in`, `xxd -r in out`: a second file is written. It compares only the first letters of its options (`-le` is `-l`), so only
 * those that are spelt as here are known.
 */
import type { Judgement } from "./programs.ts";
import { notHarmless, tooManyOperands } from "./words.ts";

const FLAG = /^-([abCdeEhipruv]|ps)$/;
const WITH_NUMBER = /^-[cglos]$/;
const NUMBER_ATTACHED = /^-[cglos][+-]*(0x[\da-f]+|\d+)$/i;
const NUMBER = /^[+-]*(0x[\da-f]+|\d+)$/i;

export function judgeXxd(args: readonly string[]): Judgement {
  const concerns: Judgement["concerns"] = [];
  let at = 0;
  while (at < args.length && /^-./s.test(args[at]!)) {
    const arg = args[at]!;
    const takesNext = WITH_NUMBER.test(arg);
    const isKnown = takesNext ? NUMBER.test(args[at + 1] ?? "") : FLAG.test(arg) || NUMBER_ATTACHED.test(arg);
    if (!isKnown) concerns.push({ index: at, text: notHarmless(arg, "xxd") });
    at += takesNext ? 2 : 1;
  }
  // After the first file it knows no options.
  const [from, to, third] = args.slice(at);
  if (third !== undefined) concerns.push({ index: at + 2, text: tooManyOperands("xxd") });
  return {
    concerns,
    files: from === undefined ? [] : [{ index: at, path: from, use: "content" }],
    ...(to === undefined ? {} : { writes: [{ index: at + 1, path: to }] }),
  };
}
