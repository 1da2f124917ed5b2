/** `lares board`: tasks for agents and people. */
import { type Acceptance, assertNever, type BoardState } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import type { Params, Result } from "../../../core/protocol/index.ts";
import { confirmed } from "../confirm.ts";
import type { Action, Context } from "../context.ts";
import { EXIT, usage } from "../exit.ts";
import { ago, oneLine, type Tone, when } from "../format.ts";
import { type Paint, table } from "../output.ts";
import { cut } from "../width.ts";
import { boardWords as words } from "../words/board.ts";
import { reportDeclined } from "./sessions.ts";

type Task = Result<"board.get">;
type Summary = Result<"board.list">["tasks"][number];

const STATES: Readonly<Record<BoardState, { glyph: string; tone: Tone }>> = {
  draft: { glyph: "○", tone: "dim" },
  ready: { glyph: "○", tone: "plain" },
  claimed: { glyph: "●", tone: "plain" },
  running: { glyph: "●", tone: "plain" },
  verifying: { glyph: "◐", tone: "plain" },
  done: { glyph: "✓", tone: "ok" },
  waiting: { glyph: "◐", tone: "wait" },
  blocked: { glyph: "✕", tone: "fail" },
  unknown: { glyph: "?", tone: "wait" },
  cancelled: { glyph: "–", tone: "dim" },
};

export const list: Action = async (ctx) => {
  const { out, rpc, clock, options: o } = ctx;
  const states = o.all
    ? undefined
    : (["draft", "ready", "claimed", "running", "verifying", "waiting", "blocked", "unknown"] as const);
  const { tasks, counts } = await rpc.call("board.list", {
    ...truthy({ states: o.state ? ([o.state] as BoardState[]) : states && [...states] }),
    ...truthy({ assignee: o.assignee, search: o.search, limit: o.limit, team: o.team }),
  });
  out.items(tasks);
  const { done = 0, cancelled = 0, ...open } = counts;
  const waiting = tasks.filter((task) => task.waitsFor?.who === "person").length;
  out.say(
    tasks.length || done || cancelled
      ? words.some(
          Object.values(open).reduce((a, b) => a + b, 0),
          waiting,
        )
      : words.none(out.hint),
    ...table(
      tasks.map((task) => [
        mark(task, out.paint),
        `#${task.number}`,
        cut(oneLine(task.title), 60),
        task.holder ?? whose(task),
        ago(task.updatedAt, clock.now()),
      ]),
      "  ",
    ),
  );
  return EXIT.done;
};

export const add: Action = async (ctx, [title = ""]) => {
  const { rpc, options: o } = ctx;
  const acceptance = readProof(o);
  const priority = o.priority as Params<"board.create">["priority"];
  const task = await rpc.call("board.create", {
    title,
    ...truthy({
      description: o.text,
      agent: o.agent,
      assignee: readPerson(o),
      parent: o.parent,
      needs: o.needs,
      runtime: o.runtime,
      dollars: o.dollars,
      tokens: o.tokens,
      team: o.team,
      draft: o.draft,
      review: o.review,
      acceptance,
      priority,
    }),
  });
  return tell(ctx, task);
};

export const show: Action = async (ctx, [ref = ""]) => tell(ctx, await ctx.rpc.call("board.get", { task: ref }));

export const comment: Action = async (ctx, [ref = "", text = ""]) =>
  tell(ctx, await ctx.rpc.call("board.comment", { task: ref, text }));

export const accept: Action = async (ctx, [ref = "", said = ""]) =>
  tell(ctx, await ctx.rpc.call("board.accept", { task: ref, said }));

export const cancel: Action = async (ctx, [ref = ""]) => {
  const { title } = await ctx.rpc.call("board.get", { task: ref });
  if (!(await confirmed(ctx, words.cancelQuestion(cut(oneLine(title), 60))))) return reportDeclined(ctx);
  return move("cancel")(ctx, [ref]);
};

export const publish = move("publish");
export const shelve = move("shelve");
export const handIn = move("hand_in");
export const reject = move("reject");
export const release = move("release");
export const block = move("block");
export const unblock = move("unblock");
export const settle = move("settle");

function move(name: Params<"board.move">["move"]): Action {
  return async (ctx, [ref = "", why]) =>
    tell(
      ctx,
      await ctx.rpc.call("board.move", { task: ref, move: name, ...truthy({ why: why ?? ctx.options.reason }) }),
    );
}

function readPerson({ for: person, role }: Context["options"]): Params<"board.create">["assignee"] {
  if (person) return { kind: "person", name: person };
  return role ? { kind: "role", name: role } : undefined;
}

function readProof(o: Context["options"]): Acceptance | undefined {
  const given: (Acceptance | undefined)[] = [
    o.check ? { kind: "command", command: o.check } : undefined,
    o.file ? { kind: "file", path: o.file } : undefined,
    o.schema ? { kind: "schema", schema: readJson(o.schema) } : undefined,
    o.delivered ? { kind: "message" } : undefined,
  ];
  const proofs = given.filter((one) => one !== undefined);
  if (proofs.length > 1) throw usage(words.onlyOneProof);
  return proofs[0];
}

function readJson(text: string) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usage(words.notJson(error instanceof Error ? error.message : String(error)));
  }
}

function tell({ out }: Context, task: Task): number {
  out.document(task);
  const proof = describeProof(task.acceptance as Acceptance);
  const last = task.verdicts.at(-1);
  out.say(
    `${mark(task, out.paint)}: #${task.number} ${oneLine(task.title)}`,
    ...(task.why ? [`  ${oneLine(task.why)}`] : []),
    ...(task.waitsFor ? [`  ${words.waitsFor(task.waitsFor.name ?? task.waitsFor.who, task.waitsFor.about)}`] : []),
    ...table(
      [
        ["id", task.id],
        ["for", whose(task)],
        ["priority", task.priority],
        ["proof", oneLine(proof)],
        ["tries", words.attempt(task.attempt, task.attempts)],
        ...(task.needs.length ? [["needs", task.needs.map((one) => `#${one.number} (${one.state})`).join(", ")]] : []),
        ...(task.repository ? [["repository", oneLine(task.repository)]] : []),
        ...(last ? [["verdict", oneLine(words.evidence(last.by, last.why))]] : []),
        ["added", words.addedBy(when(task.madeAt), oneLine(task.madeBy))],
      ],
      "  ",
    ),
    ...task.comments.slice(-5).map(({ author, text }) => `  ${oneLine(author)}: ${cut(oneLine(text), 100)}`),
  );
  return EXIT.done;
}

function describeProof(proof: Acceptance): string {
  switch (proof.kind) {
    case "command":
      return words.command(proof.command);
    case "file":
      return words.file(proof.path);
    case "schema":
      return words.schema;
    case "message":
      return words.message;
    case "word":
      return words.word;
    default:
      return assertNever(proof);
  }
}

function whose({ assignee }: Pick<Summary, "assignee">): string {
  return assignee?.name ?? words.anybody;
}

function mark({ state }: Pick<Summary, "state">, paint: Paint): string {
  const { glyph, tone } = STATES[state];
  return tone === "plain" ? `${glyph} ${state}` : paint(`${glyph} ${state}`, tone);
}
