/** `lares policy explain`: what the gate would say to a command. Nothing runs. */
import type { Action } from "../context.ts";
import { EXIT } from "../exit.ts";
import { oneLine, type Tone, visible } from "../format.ts";
import { table } from "../output.ts";
import type { Verdict } from "../shapes.ts";
import { cut } from "../width.ts";

const SAYS: Readonly<Record<Verdict["verdict"], { glyph: string; words: string; tone: Tone }>> = {
  allow: { glyph: "✓", words: "It would run without asking", tone: "ok" },
  ask: { glyph: "◐", words: "It would ask you first", tone: "wait" },
  deny: { glyph: "✕", words: "It would be refused", tone: "fail" },
};

export const explain: Action = async ({ rpc, out, options, ports }, [command = ""]) => {
  const v = await rpc.callAny<Verdict>("policy.explain", { command, agent: options.agent });
  out.document(v);
  const { glyph, words, tone } = SAYS[v.verdict];
  const room = Math.max((ports.stdout.columns ?? 120) - 50, 30);
  const parts = v.parts.map((part) => [part.verdict, cut(oneLine(part.what), room), oneLine(part.because)]);
  out.say(`${out.paint(glyph, tone)} ${words}: ${visible(v.because)}`, ...table(parts, "  "));
  return EXIT.done;
};
