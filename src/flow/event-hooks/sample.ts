/** A made-up event for each kind, to try a hook with. */
import { z } from "zod";
import { HOOK_EVENTS, type HookEventName, type HookFacts, type HookPayload } from "../../core/contracts/index.ts";
import { AppError, hookKeys, sessionKeys, toApprovalId } from "../../core/domain/index.ts";
import { firstIssue } from "../../core/kit/index.ts";

const IN_TURN = { agent: "main", session: sessionKeys.main("main"), turn: "t_example" };
const CALL = { call: "call_example", tool: "exec", input: { command: "echo hello" } };

const FACTS: { readonly [E in HookEventName]: HookFacts<E> } = {
  "message.received": { ...IN_TURN, channel: "http", chat: "example", sender: "owner", text: "Hello" },
  "turn.started": { ...IN_TURN, segment: 0 },
  "context.building": { ...IN_TURN, text: "Hello", first: true, authority: "owner" },
  "model.called": {
    ...IN_TURN,
    call: 0,
    model: "example/model",
    ok: true,
    inputTokens: 100,
    outputTokens: 10,
    cost: null,
  },
  "tool.planned": { ...IN_TURN, ...CALL, risk: "exec", shown: "echo hello", verdict: "allow" },
  "tool.finished": { ...IN_TURN, ...CALL, text: "hello", isError: false },
  "answer.ready": { ...IN_TURN, text: "Hello!", pass: 1 },
  "turn.ended": { ...IN_TURN, state: "answered", text: "Hello!", toolCalls: 0 },
  "message.sent": { session: IN_TURN.session, turn: IN_TURN.turn, channel: "http", chat: "example", text: "Hello!" },
  "session.opened": { agent: IN_TURN.agent, session: IN_TURN.session },
  "session.closed": { session: IN_TURN.session, how: "reset" },
  "compaction.done": { agent: IN_TURN.agent, session: IN_TURN.session, messages: 20 },
  "approval.changed": {
    session: IN_TURN.session,
    turn: IN_TURN.turn,
    approval: toApprovalId("example"),
    state: "pending",
    shown: "echo hello",
  },
  "schedule.fired": { schedule: "example", session: IN_TURN.session, turn: IN_TURN.turn },
  "install.staged": { what: "skill", name: "example", source: "a folder", digest: "sha256:0", findings: [] },
  "skill.proposed": { ...IN_TURN, name: "example", text: "# Example" },
};

/** `facts` replace what the example says. Throws BAD_REQUEST for what such an event can't say. */
export function makeSample(
  event: HookEventName,
  at: number,
  facts: Readonly<Record<string, unknown>> = {},
): HookPayload {
  const said = { ...FACTS[event], ...facts };
  const read = z.strictObject(HOOK_EVENTS[event].payload.shape).safeParse(said);
  if (!read.success) throw new AppError("BAD_REQUEST", { message: firstIssue(read.error.issues, said, event) });
  return { event, id: hookKeys.event(event, "example"), at, ...said } as HookPayload;
}
