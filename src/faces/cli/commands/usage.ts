/** `lares usage`: tokens and cost by day, model and agent. */
import type { Result } from "../../../core/protocol/index.ts";
import type { Action } from "../context.ts";
import { EXIT } from "../exit.ts";
import { count, plural, spent, tokens } from "../format.ts";
import { table } from "../output.ts";
import { usageWords as words } from "../words/look.ts";

type Summary = Result<"usage.summary">;
type UsageSum = Summary["total"];

const DAY_MS = 86_400_000;
/** Characters of the longest bar: enough to compare, little enough for a phone's terminal. */
const BAR = 20;

export const usage: Action = async ({ rpc, out, options, clock }) => {
  const days = options.days ?? 30;
  const now = clock.now();
  const s = await rpc.call("usage.summary", {
    from: toDay(now - (days - 1) * DAY_MS),
    to: toDay(now),
    agent: options.agent,
    // Days begin where the reader is.
    zoneOffsetMinutes: -new Date(now).getTimezoneOffset(),
  });
  out.document({ ...s, currency: "USD" });
  const span = words.span(days, s.to);
  if (!s.total.calls) {
    out.say(words.noCalls(span));
    return EXIT.done;
  }
  out.say(words.total(count(tokens(s.total)), span, spent(s.total)));
  const most = Math.max(...s.days.map(tokens), 1);
  const bar = (line: UsageSum) => "▇".repeat(Math.ceil((tokens(line) / most) * BAR));
  const section = (title: string, rows: string[][]) => (rows.length ? ["", title, ...table(rows, "  ")] : []);
  out.say(
    ...section(
      words.byDay,
      s.days.map((d) => [d.day, ...figures(d), bar(d)]),
    ),
    ...section(
      words.byModel,
      s.models.map((m) => [m.model ?? words.noModel, ...figures(m)]),
    ),
    ...section(
      words.byAgent,
      s.agents.map((a) => [a.agent, ...figures(a)]),
    ),
  );
  return EXIT.done;
};

function figures(line: UsageSum): string[] {
  return [plural(line.calls, "call"), words.tokens(count(tokens(line))), spent(line)];
}

function toDay(at: number): string {
  const d = new Date(at);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
}
