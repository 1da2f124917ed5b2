/**
 * Where a turn meets hooks: before a call, after it, and before an answer.
 *
 * TURNS-14: a hook is asked inside a recorded step, and whether it is asked was decided in one recorded earlier, or in that same one:
 *     a replay finds the same steps and answers, whichever hooks there are by then.
 * TURNS-15: a hook's word only tightens the gate's: it can turn an allowed call into a question or a denial, never the other way.
 */
import {
  type ActionPlan,
  type HookNote,
  type HookOutcome,
  Stopped,
  type ToolResult,
} from "../../core/contracts/index.ts";
import { hookKeys, type ModelMessage, messageIds, stepNames, type ToolCallPart } from "../../core/domain/index.ts";
import { defined } from "../../core/kit/index.ts";
import type { At } from "./place.ts";
import type { GateVerdict, TurnParts } from "./ports.ts";
import type { TurnRun } from "./run.ts";
import { noteInResult, noteLine } from "./words.ts";

/** Who is asked, for every event of a turn. */
function ofTurn({ agent, session, turn }: Pick<At, "agent" | "session" | "turn">) {
  return { agent, session, turn };
}

/** The tool a call is about, also where it is called through one that runs others. */
export function realCall(parts: TurnParts, { id, name, input }: Pick<ToolCallPart, "id" | "name" | "input">) {
  const runs = parts.tools.get(name)?.runs?.(input);
  return { call: id, tool: runs?.tool.spec.name ?? name, input: runs?.input ?? input };
}

/** What hooks say to a call that the gate didn't refuse. Part of the step that judges. */
export async function askAboutCall(
  parts: TurnParts,
  at: At,
  call: ToolCallPart,
  { plan, verdict }: { plan: ActionPlan; verdict: "allow" | "ask" },
): Promise<HookOutcome> {
  const { risk, shown } = plan;
  const facts = { ...ofTurn(at), ...realCall(parts, call), risk, shown, verdict };
  const { ctx, turn } = at;
  return ctx.apart("asks", () => parts.hooks.ask("tool.planned", hookKeys.inTurn(turn, call.id), facts, ctx.halt));
}

/** The stricter of two words (TURNS-15). */
export function tighten(gate: GateVerdict["verdict"], { deny, ask }: HookOutcome): GateVerdict["verdict"] {
  if (gate === "deny" || deny !== undefined) return "deny";
  return gate === "ask" || ask !== undefined ? "ask" : "allow";
}

/** What is left of the results of a reply. `heard`: which of them hooks are asked about. */
export async function heardResults<T extends { id: string; text: string; isError?: boolean }>(
  parts: TurnParts,
  at: At,
  of: { calls: readonly ToolCallPart[]; results: readonly T[]; heard: readonly boolean[]; key: string },
): Promise<{ results: T[]; outside: boolean }> {
  const { calls, results, heard, key } = of;
  const untouched = { results: [...results], outside: false };
  const ask = async (call: ToolCallPart, { text, isError = false }: T): Promise<HookOutcome> =>
    parts.hooks.ask(
      "tool.finished",
      hookKeys.inTurn(at.turn, call.id),
      { ...ofTurn(at), ...realCall(parts, call), text, isError },
      at.ctx.halt,
    );
  try {
    const askAll = () => Promise.all(calls.map((call, i) => (heard[i] ? ask(call, results[i]!) : null)));
    const outcomes = await at.ctx.step<(HookOutcome | null)[]>(stepNames.hooked("results", key), () =>
      at.ctx.apart("asks", askAll),
    );
    return {
      results: results.map((result, i) => ({ ...result, text: applyOutcome(parts, result.text, outcomes[i] ?? {}) })),
      outside: outcomes.some((one) => one?.notes !== undefined),
    };
  } catch (error) {
    // Each call in the history needs its result, also in a turn that is being stopped.
    if (error instanceof Stopped) return untouched;
    throw error;
  }
}

/** The same for a call that waited for a person. */
export async function heardResult(
  parts: TurnParts,
  run: TurnRun,
  call: ToolCallPart,
  done: ToolResult,
): Promise<ToolResult> {
  const key = hookKeys.waited(run.segment, call.id);
  const { results, outside } = await heardResults(parts, run, {
    calls: [call],
    results: [{ ...done, id: call.id }],
    heard: [true],
    key,
  });
  const { id: _id, ...said } = results[0]!;
  return outside ? { ...said, origin: "outside" } : said;
}

function applyOutcome(parts: TurnParts, text: string, { shorten, notes = [] }: HookOutcome): string {
  const rest = shorten ? parts.hooks.shorten(text, shorten) : text;
  return [rest, ...notes.map(noteInResult)].join("\n");
}

/** What hooks say to an answer before anybody reads it. */
export async function checkAnswer(
  parts: TurnParts,
  run: TurnRun,
  { text, isLast }: { text: string; isLast: boolean },
): Promise<"ok" | "again" | { deny: string }> {
  const { p, ctx, turn } = run;
  const n = p.call - 1;
  const facts = { ...ofTurn(run), text, pass: p.again ? 2 : 1 };
  const said = await ctx.step<HookOutcome>(stepNames.hooked("answer", String(n)), () =>
    ctx.apart("asks", () => parts.hooks.ask("answer.ready", hookKeys.inTurn(turn, n), facts, ctx.halt)),
  );
  if (said.deny !== undefined) return { deny: said.deny };
  p.notices.push(...(said.failed ?? []));
  // Once a turn: a hook that is never content must not keep a turn going.
  if (!said.again || p.again || isLast) return "ok";
  p.again = true;
  p.notes = [said.again];
  return "again";
}

/** Notes as the model reads them: marked as a hook's words by a line of ours. */
export function noteMessage(notes: readonly HookNote[]): ModelMessage[] {
  if (notes.length === 0) return [];
  const content = notes.flatMap(({ by, text }) => [
    { type: "text" as const, text: noteLine(by), ours: true as const },
    { type: "text" as const, text },
  ]);
  return [{ role: "user", content }];
}

/** What the model is about to read, for hooks that add notes, leave out tools or decline. */
export async function askAboutContext(
  parts: TurnParts,
  run: TurnRun,
  n: number,
  took: readonly { text: string; authority: string }[],
): Promise<HookOutcome> {
  const { session, agent, turn, given, ctx, p } = run;
  const { messages } = await parts.history.build(session, agent, { given, turn });
  const text = took.map((one) => one.text).join("\n");
  const facts = { ...ofTurn(run), text, first: messages.length === 0, authority: took[0]!.authority };
  const key = hookKeys.inTurn(turn, n);
  const said = await ctx.apart("asks", () => parts.hooks.ask("context.building", key, facts, ctx.halt));
  // Pushed here and not where it is replayed: a notice of an attempt that was lost is worth nothing.
  if (said.deny === undefined) p.notices.push(...(said.failed ?? []));
  return said;
}

/** Where notes stand in the history. */
export function noteId({ turn, segment }: TurnRun, n: number): string {
  return messageIds.notes(turn, segment, n);
}

/** The tools that may still be called. */
export function narrowed(now: readonly string[] | undefined, more: readonly string[] | undefined) {
  if (!now || !more) return defined({ narrowed: more ? [...more] : now && [...now] });
  return { narrowed: now.filter((name) => more.includes(name)) };
}
