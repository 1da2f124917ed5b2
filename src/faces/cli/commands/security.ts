/** `lares security audit`: what is open, the worst first. */
import type { Action } from "../context.ts";
import { EXIT } from "../exit.ts";
import { oneLine, plural, type Tone } from "../format.ts";

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
    open ? `${plural(open, "thing")} to review.` : "Nothing is exposed that shouldn't be.",
    ...findings.flatMap((f) => {
      const { glyph, tone } = MARKS[f.level];
      const hint = f.hint && f.level !== "ok" ? [`    ${out.ours(oneLine(f.hint))}`] : [];
      return [`  ${out.paint(glyph, tone)} ${oneLine(f.text)}`, ...hint];
    }),
  );
  return worst === "bad" ? EXIT.failed : EXIT.done;
};
