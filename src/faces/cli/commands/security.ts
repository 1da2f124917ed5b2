/** `lares security audit`: what is open, the worst first. */
import type { Action } from "../context.ts";
import { EXIT } from "../exit.ts";
import { oneLine, type Tone } from "../format.ts";
import { securityWords as words } from "../words/look.ts";

const MARKS: Readonly<Record<"ok" | "warn" | "bad", { glyph: string; tone: Tone }>> = {
  ok: { glyph: "✓", tone: "ok" },
  warn: { glyph: "!", tone: "wait" },
  bad: { glyph: "✕", tone: "fail" },
};

export const audit: Action = async ({ rpc, out }) => {
  const { worst, findings } = await rpc.call("security.audit", {});
  out.document({ worst, findings });
  const open = findings.filter((f) => f.level !== "ok").length;
  out.say(
    open ? words.toReview(open) : words.nothing,
    ...findings.flatMap((f) => {
      const { glyph, tone } = MARKS[f.level];
      const hint = f.hint && f.level !== "ok" ? [`    ${out.ours(oneLine(f.hint))}`] : [];
      return [`  ${out.paint(glyph, tone)} ${oneLine(f.text)}`, ...hint];
    }),
  );
  return worst === "bad" ? EXIT.failed : EXIT.done;
};
