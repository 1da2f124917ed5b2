/** What people say while a run goes on: into it where it can still read it, and otherwise it stays in the inbox for a separate turn. */
import { leastTrusted } from "../../../core/domain/index.ts";
import { carriesOutside, userMessage } from "../finish.ts";
import type { IntakeMessage, TurnParts } from "../ports.ts";
import type { TurnRun } from "../run.ts";

/** Listens until it is called. */
export function steerRun(parts: TurnParts, run: TurnRun): () => Promise<void> {
  const { turn, session, ctx } = run;
  let working: Promise<void> = Promise.resolve();
  let isOver = false;
  const look = () => {
    working = working.then(async () => {
      if (!isOver && !ctx.halt.aborted) await pass(parts, run);
    });
    // The records may be closing; then the inbox keeps what it has.
    working.catch((error: unknown) => parts.log.debug("a message waits for its own turn", { error: String(error) }));
  };
  const off = parts.bus.on((event) => {
    if (event.event === "turn.accepted" && event.session === session && event.turn !== turn) look();
  });
  // What came while the run was being opened, or before a crash.
  look();
  return async () => {
    isOver = true;
    off();
    await working.catch(() => {});
  };
}

async function pass(parts: TurnParts, run: TurnRun): Promise<void> {
  const { turn, session, ctx, p } = run;
  const { runs } = parts.bodies;
  // Not its first call: what collects before that has had its chance.
  const by = { turn, call: 1, route: JSON.stringify(run.route) };
  const { messages, interrupted } = await parts.intake.next(session, by, ctx.halt);
  if (interrupted) return runs.stop(turn);
  for (const m of messages) {
    const text = spokenText(m);
    if ((await runs.say(turn, text)) === "ended") return;
    await parts.records.write((tx) => {
      parts.intake.take(tx, m.turn, turn, p.call);
      parts.history.append(tx, { session, turn, ...userMessage(m) });
      runs.said(tx, turn, { message: m.turn, text, authority: m.authority });
    });
    p.authority = leastTrusted(p.authority, m.authority);
    p.tainted ||= carriesOutside(m);
  }
}

/** A message as a runtime reads it: with Lares' own line before it, and the text of its files. */
export function spokenText(m: IntakeMessage): string {
  const files = m.attached.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return [m.envelope ?? "", m.text, ...files].filter((one) => one !== "").join("\n\n");
}
