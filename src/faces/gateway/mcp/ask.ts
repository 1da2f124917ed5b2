/**
 * Talking to an agent. A message goes through the inbox like one from any other door, so it is durable when the call returns and
 * the same key is the same turn (I1, I2). The call may end before the turn does: `answer` asks again.
 */
import { z } from "zod";
import { deadline, truthy } from "../../../core/kit/index.ts";
import { agentId, type ChatAnswer, idempotencyKey, sessionKey, turnId } from "../../../core/protocol/index.ts";
import { type ServedTool, type ToolCall, tool } from "./catalogue.ts";

/** Most clients give up on a call after a minute. */
const WAIT_S = 45;
const MOST_WAIT_S = 600;
/** The conversation of a client that names none. */
const CONVERSATION = "mcp";

const wait = z
  .number()
  .min(0)
  .max(MOST_WAIT_S)
  .optional()
  .describe(`how many seconds to wait for the answer (${WAIT_S}); 0 returns at once`);

const answered = z.object({
  turn: z.string().describe("the handle of this message: give it to answer or stop"),
  session: z.string(),
  agent: z.string(),
  state: z.string().describe("answered, declined, failed; or queued, running, parked while it isn't over"),
  done: z.boolean(),
  response: z.string(),
  reason: z.string().optional(),
  notices: z.array(z.string()),
  approval: z
    .object({ id: z.string(), shown: z.string(), because: z.string() })
    .optional()
    .describe("what it waits for: a person must allow this"),
  duplicate: z.boolean().describe("the message had been sent before with this key; it was not sent again"),
});
type Answered = z.input<typeof answered>;

const OPEN: ReadonlySet<string> = new Set<ChatAnswer["state"]>(["queued", "running", "parked"]);

export const askTools: readonly ServedTool[] = [
  tool({
    name: "ask",
    title: "Ask an agent",
    description:
      "Send a message to an agent of Lares and wait for its answer. The message is stored before this returns. If the answer takes longer than `wait`, you get a turn to give to `answer`. When you repeat a call because you don't know whether it arrived, use the same `key`: then it is sent once.",
    scope: "write",
    in: z.strictObject({
      message: z.string().min(1).max(262_144),
      agent: agentId.optional().describe("which agent; the default agent when left out"),
      conversation: z
        .string()
        .min(1)
        .max(128)
        .optional()
        .describe("a name of yours: messages with the same name belong together"),
      session: sessionKey.optional().describe("instead of a name: an existing session"),
      wait,
      key: idempotencyKey.optional().describe("your own id of this message"),
    }),
    out: answered,
    hints: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    async run({ conversation, wait: seconds, key, ...message }, at) {
      const idempotencyKey = key ?? at.key;
      const user = conversation ?? CONVERSATION;
      const sent = await at.call("chat.send", { ...message, user, wait: false, ...truthy({ idempotencyKey }) });
      const answer = await waited(at, sent, seconds);
      return toAnswered({ ...answer, duplicate: sent.duplicate });
    },
    text: said,
  }),
  tool({
    name: "answer",
    title: "Get an answer",
    description: "Get the answer to a message that `ask` returned a turn for, waiting for it if it isn't there yet.",
    scope: "write",
    in: z.strictObject({ turn: turnId, wait }),
    out: answered,
    hints: { readOnlyHint: true },
    async run({ turn, wait: seconds }, at) {
      const now = await at.call("chat.wait", { turn }, AbortSignal.abort());
      return toAnswered(await waited(at, now, seconds));
    },
    text: said,
  }),
  tool({
    name: "stop",
    title: "Stop a turn",
    description: "Stop the work on a message of yours at the next safe point. What was done stays done.",
    scope: "write",
    in: z.strictObject({ turn: turnId }),
    out: z.object({ stopped: z.boolean() }),
    hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
    run: async ({ turn }, at) => ({ stopped: (await at.call("chat.abort", { turn })).stopped }),
  }),
];

async function waited(at: ToolCall, sent: ChatAnswer, seconds = WAIT_S): Promise<ChatAnswer> {
  if (!OPEN.has(sent.state) || seconds === 0) return sent;
  const until = deadline(at.signal, seconds * 1000);
  const off = report(at, sent.turn);
  try {
    return await at.call("chat.wait", { turn: sent.turn }, until.signal);
  } finally {
    off();
    until.done();
  }
}

/** While it works: each step is a sign of life, which also keeps clients with a short patience waiting. */
function report(at: ToolCall, turn: string): () => void {
  return at.events.on(({ event }) => {
    if (!("turn" in event) || event.turn !== turn) return;
    if (event.event === "turn.step") at.progress(event.step);
    else if (event.event === "tool.call") at.progress(event.name);
    else if (event.event === "turn.parked") at.progress("waits for a person");
  });
}

function toAnswered(answer: ChatAnswer): Answered {
  const { turn, session, agent, state, response, reason, notices, duplicate, approval } = answer;
  return {
    turn,
    session,
    agent,
    state,
    done: !OPEN.has(state),
    response,
    notices,
    duplicate,
    ...truthy({ reason }),
    ...(approval ? { approval: { id: approval.id, shown: approval.shown, because: approval.because } } : {}),
  };
}

function said({ done, state, turn, response, notices, approval }: Answered): string {
  const text = [response, ...notices].filter(Boolean).join("\n\n");
  if (done) return text;
  const why = approval ? `It waits for a person to allow this: ${approval.shown}` : `It isn't over yet (${state}).`;
  return `${why}\nGet the answer later with the tool answer and the turn ${turn}.`;
}
