/**
 * `lares chat -m`: one message, the answer on stdout, everything else on stderr, the outcome as exit code. A parked turn is
 * not waited for: a script learns at once what waits and how to answer.
 */
import { randomUUID } from "node:crypto";
import { AppError, assertNever } from "../../../core/domain/index.ts";
import type { Approval, ChatAnswer, TurnDetail } from "../../../core/protocol/index.ts";
import type { Context } from "../context.ts";
import { EXIT, exitForState } from "../exit.ts";
import { elapsed, oneLine, STATES, visible } from "../format.ts";
import { askCard, failureLine, howToAnswer } from "../lines.ts";
import { chatWords as words } from "../words/chat.ts";
import { target } from "./command.ts";
import { Conversation } from "./conversation.ts";
import { followEvents } from "./events.ts";
import { toolLine } from "./rows.ts";
import { Screen } from "./screen.ts";

/** Sooner, a progress line would only flash (UI.md §8). */
const PROGRESS_MS = 300;
/** A gateway away for longer will not come back by itself; the message is safe in it. */
const PATIENCE_MS = 60_000;

type End =
  | { kind: "ended"; detail: TurnDetail }
  | { kind: "parked"; approval: Approval }
  | { kind: "interrupted" }
  | { kind: "lost"; error: unknown };

export async function sendOne(ctx: Context, message: string): Promise<number> {
  const { rpc, clock, find } = ctx;
  const progress = showProgress(ctx);
  let settle!: (end: End) => void;
  const end = new Promise<End>((resolve) => {
    settle = resolve;
  });
  const conversation = new Conversation({
    rpc,
    clock,
    target: target(ctx),
    watcher: {
      text: { write() {}, next() {}, void() {} },
      tool: (call) => progress.doing(toolLine(call.name, call.input)),
      toolProgress: ({ text }) => progress.doing(text),
      toolDone: () => progress.doing(""),
      asked: (approval) => settle({ kind: "parked", approval }),
      answered() {},
      ended: (detail) => settle({ kind: "ended", detail }),
      gone: (error) => settle({ kind: "lost", error }),
    },
  });
  let givingUp: (() => void) | undefined;
  const events = await followEvents({
    find,
    clock,
    onEvent: (event) => conversation.onEvent(event),
    onOpen: ({ first, restarted }) => {
      givingUp?.();
      givingUp = undefined;
      if (!first) conversation.reconnected(restarted);
    },
    onLost: () => {
      givingUp ??= clock.after(PATIENCE_MS, () => settle({ kind: "lost", error: away(conversation) }));
    },
  });
  let interrupts = 0;
  const interrupt = () => {
    if (++interrupts > 1) return settle({ kind: "interrupted" });
    ctx.out.note(words.stoppingNow);
    conversation.abort().catch(() => settle({ kind: "interrupted" }));
  };
  const off = ctx.onSignal("SIGINT", interrupt);
  // The clock's timers do not hold the process while the connection is away.
  const hold = setInterval(() => {}, 2 ** 30);
  try {
    const key = ctx.options.idempotencyKey ?? `cli-${randomUUID()}`;
    const turn = await conversation.send(message, { key, patient: false });
    const how = await end;
    progress.clear();
    return await tell(ctx, turn, how);
  } finally {
    progress.clear();
    clearInterval(hold);
    off();
    givingUp?.();
    conversation.close();
    events.close();
  }
}

async function tell(ctx: Context, turn: string, end: End): Promise<number> {
  const { out } = ctx;
  switch (end.kind) {
    case "lost":
      throw end.error;
    case "interrupted":
      out.note(words.seeResult(out.hint, turn));
      return EXIT.interrupted;
    case "parked": {
      out.document(parked(turn, end.approval));
      const lines = askCard(end.approval, out.paintNote, ctx.clock.now());
      out.note(...lines, `  ${howToAnswer(end.approval, out.hint)}`, words.thenGetAnswer(out.hint, turn));
      return EXIT.waiting;
    }
    case "ended":
      if (out.json) out.document(await ctx.rpc.call("turns.wait", { turn }));
      else ended(ctx, end.detail);
      return exitForState(end.detail.state);
    default:
      return assertNever(end);
  }
}

function ended(ctx: Context, t: TurnDetail): void {
  const { out, ports } = ctx;
  // A terminal gets text it cannot be steered by; a pipe gets the answer as it is.
  const text = ports.stdout.isTTY ? visible(t.response ?? "") : (t.response ?? "");
  // Not `say`: an answer that mentions commands is printed verbatim.
  if (text && !out.json) out.raw(`${text}\n`);
  const { glyph, word, tone } = STATES[t.state];
  if (t.state !== "answered") {
    out.note(`${out.paintNote(`${glyph} ${word}`, tone)}${t.reason ? `: ${failureLine(t, out)}` : ""}`);
  }
  out.note(...t.notices.map((notice) => `! ${oneLine(notice)}`));
  if (t.practice) out.note(words.practiceAnswered);
}

function parked(turn: string, approval: Approval): ChatAnswer {
  const { session, agent, id, shown } = approval;
  const response = words.waitsForApproval(id, shown);
  return { turn, session, agent, state: "parked", response, notices: [], duplicate: false, approval };
}

function away(conversation: Conversation): AppError {
  const [turn] = conversation.turns;
  return new AppError("GATEWAY_DOWN", {
    message: words.stoppedWhileWorking,
    hint: words.startThenGet(turn),
    retry: "later",
  });
}

/** One line on stderr that says what is being done, for a person who waits. */
function showProgress(ctx: Context): { doing(what: string): void; clear(): void } {
  const { out, ports, clock } = ctx;
  if (!ports.stderr.isTTY || out.quiet || out.json) return { doing() {}, clear() {} };
  const screen = new Screen(ports.stderr, out.paintNote);
  const began = clock.now();
  let doing = "";
  let off = () => {};
  const tick = () => {
    screen.show({ rows: [{ text: ["● running", elapsed(clock.now() - began), doing].filter(Boolean).join(" · ") }] });
    off = clock.after(1000, tick);
  };
  off = clock.after(PROGRESS_MS, tick);
  return {
    doing(what) {
      doing = what;
    },
    clear() {
      off();
      screen.clear();
    },
  };
}
