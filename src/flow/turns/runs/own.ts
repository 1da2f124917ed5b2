/**
 * Tools of ours that a runtime calls: run by the turn, on the same path as calls of our own loop. The runtime shows the call itself, so it
 * isn't shown twice.
 *
 * TURNS-18: a run may call these tools and no others, and among them those that its turn may use.
 * TURNS-19: what a person allowed is run once, also when the attempt that asked is gone; the next one reads the result.
 */
import type { Outcome, RunToolResult, ToolSpec } from "../../../core/contracts/index.ts";
import { readTeamSession, type ToolCallPart } from "../../../core/domain/index.ts";
import { act, isFromOutside } from "../act.ts";
import { heardResult } from "../hooked.ts";
import { nameTool } from "../judge.ts";
import type { RunReply, RunStop, TurnParts } from "../ports.ts";
import type { WaitingCall } from "../progress.ts";
import { parkNow, shortened, type TurnRun } from "../run.ts";
import { runTool } from "../run-tool.ts";
import { NOT_IN_RUNS } from "../words.ts";
import type { CarriedTurn } from "./carry.ts";

/** Files, commands and the web it has its own tools for. */
const OWN: readonly string[] = [
  ...["memory_search", "memory_save", "message", "schedule_add", "sessions_spawn"],
  ...["board_list", "board_get", "board_create", "board_comment", "board_hand_in"],
];
/** Where a team works together. */
const OF_ROOMS: readonly string[] = ["room_post", "room_read"];

function listNames(session: string): readonly string[] {
  return readTeamSession(session) ? [...OWN, ...OF_ROOMS] : OWN;
}

/** The same parts, with tools that our own loop finds only by a search: they are judged and run under their own names. */
export function withOnDemand(parts: TurnParts): TurnParts {
  const { tools } = parts;
  return { ...parts, tools: { ...tools, get: (name) => tools.get(name) ?? tools.onDemand(name) } };
}

/** TURNS-18 */
export function listOwn(parts: TurnParts, { tools, p, session }: TurnRun): ToolSpec[] {
  const isOpen = (name: string) => (!tools || tools.includes(name)) && (!p.narrowed || p.narrowed.includes(name));
  return listNames(session)
    .filter(isOpen)
    .flatMap((name) => {
      const tool = parts.tools.get(name);
      return tool && (tool.offered?.() ?? true) ? [tool.spec] : [];
    });
}

/** Judged, then run, asked about or refused. */
export async function useOwn(
  given: TurnParts,
  run: CarriedTurn,
  stop: Extract<RunStop, { why: "calls" }>,
  n: number,
): Promise<{ answer: RunReply } | { outcome: Outcome }> {
  const parts = quietly(given);
  const { p } = run;
  const { name, input, attempt, isAnnounced } = stop;
  const answered = (result: RunToolResult) => ({ answer: { call: stop.call, about: name, result } });
  const lent = listNames(run.session);
  if (!lent.includes(name)) return answered({ text: parts.tools.unknown(name, lent), isError: true });
  const call: ToolCallPart = { type: "tool-call", id: `run-${n}`, name, input };
  // Steps have the number of the stretch: what was shown since isn't counted in a replay.
  const at = { ...p, call: n + 1, tainted: !isAnnounced || (await hasReadOutside(parts, run)) };
  const { results, waiting, outside, pauses } = await act(parts, run, [call], at);
  p.last = at.last;
  p.tainted ||= outside;
  const [asked] = waiting;
  if (asked) {
    const { because: _b, rule: _r, ...one } = asked;
    p.waiting.push(one);
    p.run.asking = { ask: stop.call, attempt, about: nameTool(parts, { tool: name, input }), own: true };
    return { outcome: await parkNow(parts, run, [asked]) };
  }
  if (pauses.length > 0) return answered({ text: NOT_IN_RUNS, isError: true });
  const [result] = await shortened(parts, run, results);
  return answered({ text: result!.text, isError: result!.isError === true });
}

/** A person said yes (TURNS-19). */
export async function runAllowed(given: TurnParts, run: CarriedTurn, waiting: WaitingCall): Promise<RunToolResult> {
  const parts = quietly(given);
  const { callId: id, tool: name, input, hash } = waiting;
  const call: ToolCallPart = { type: "tool-call", id, name, input };
  const done = await runTool(parts, run, call, run.p, { by: "person", hash });
  const said = waiting.heard ? await heardResult(parts, run, call, done) : done;
  run.p.tainted ||= isFromOutside(parts, name, said);
  if (done.ask || done.wait) return { text: NOT_IN_RUNS, isError: true };
  const [short] = await shortened(parts, run, [{ id, text: said.text }]);
  return { text: short!.text, isError: said.isError === true };
}

/** Its own tools bring text from outside; so may the conversation that it goes on with. */
async function hasReadOutside(parts: TurnParts, { p, turn, session, agent, given }: CarriedTurn): Promise<boolean> {
  if (p.tainted || (await parts.bodies.runs.events(turn)).some(({ type }) => type === "tool_result")) return true;
  return (await parts.history.build(session, agent, { given, turn })).tainted;
}

function quietly(parts: TurnParts): TurnParts {
  const { bus } = parts;
  const emit: typeof bus.emit = (event) => {
    if (!event.event.startsWith("tool.")) bus.emit(event);
  };
  return { ...parts, bus: { emit, on: (listener) => bus.on(listener) } };
}
