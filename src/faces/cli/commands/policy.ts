/** `lares policy explain`: what the gate would say to a command. Nothing runs. */
import type { Result } from "../../../core/protocol/index.ts";
import type { Action } from "../context.ts";
import { EXIT } from "../exit.ts";
import { oneLine, type Tone, visible } from "../format.ts";

const SAYS: Readonly<Record<Result<"policy.explain">["verdict"], { glyph: string; words: string; tone: Tone }>> = {
  allow: { glyph: "✓", words: "It would run without asking", tone: "ok" },
  ask: { glyph: "◐", words: "It would ask you first", tone: "wait" },
  deny: { glyph: "✕", words: "It would be refused", tone: "fail" },
};

export const explain: Action = async ({ rpc, out, options }, [command = ""]) => {
  const v = await rpc.call("policy.explain", { command, agent: options.agent });
  out.document(v);
  const { glyph, words, tone } = SAYS[v.verdict];
  // The first line of the gate's own account is the verdict, which was just said in words.
  const [, ...account] = visible(v.text).trimEnd().split("\n");
  out.say(
    `${out.paint(glyph, tone)} ${words}: ${oneLine(v.because)}`,
    ...account.map((line) => `  ${line}`),
    ...(v.verdict === "ask" && v.rule ? [`  "Always allow" would keep: ${oneLine(v.rule)}`] : []),
  );
  return EXIT.done;
};
