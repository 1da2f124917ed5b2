/** Every event with one line of documentation. The type makes sure that none is forgotten. */
import type { LiveEvent } from "../domain/events.ts";

export const EVENTS: Readonly<Record<LiveEvent["event"] | "hello" | "reload", string>> = {
  hello: "The greeting: `boot` of this run and the newest `seq`.",
  reload: "What was missed is no longer known: read everything again.",
  "turn.accepted": "A message is durable and has its turn: `session, turn, text, route, label?, attachments?`.",
  "turn.started": "A turn works: `segment` counts from 0, each park is followed by the next.",
  "turn.step": "What it does now: `step`, e.g. `model:0`.",
  "turn.delta": "A piece of the answer: `call` is the number of the model call, `text` the piece.",
  "turn.thinking": "A piece of the model's thinking.",
  "turn.discarded": "What call `call` said so far is void; another attempt starts over.",
  "turn.retrying": "A model did not answer: `failure`; try number `attempt`, by `model`, begins in `inMs`.",
  "turn.parked": "It waits for a person: `approvals`.",
  "turn.ended": "It is over: `state, text`, and `joined` when another turn carried it.",
  "tool.call": "A tool runs: `id, name, input`.",
  "tool.result": "What came of it: `text, isError`; `cut` when the text is longer.",
  "approval.asked": "A person is asked: `approval, shown, because`.",
  "approval.answered": "Somebody answered: `approval, state, by`.",
  "approval.reminded": "A question nobody answered was said again in its chat: `approval, count`.",
  delivery: "An answer on its way to a channel: `delivery, state, error?`.",
  "session.changed": "`what`: reset, deleted, imported or updated.",
  "schedule.fired": "A schedule started a turn: `schedule, session, turn`.",
  "channel.status": "A channel's state changed: `channel, state, detail?`.",
  "channel.knock": "A stranger wrote and waits to be let in: `channel, sender`.",
  "config.changed": "lares.yaml was read again: `changed` sections, those that need a `restart`, `problems`.",
  "memory.changed": "`what`: facts came, went or changed; or vectors were made.",
  log: "A line of the log: `level, time, room, what, facts?`.",
};
