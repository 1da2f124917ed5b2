/** Words for work that goes on beside the conversation: sub-agents, background commands, waiting, messages. */
import { type JsonObject, SESSION_PREFIX } from "../../../../core/domain/index.ts";
import { END, type PracticeRule, row, unquote } from "./words.ts";

const AGENT = "(?:sub-?agents?|helpers?)";
/** Its name, or "it": the last one that was started. */
const WHICH = String.raw`(?:the |my )?${AGENT}(?: (?<session>${SESSION_PREFIX.child}\S+?))?`;
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

export const WORK: readonly PracticeRule[] = [
  row(
    "sessions_spawn",
    "ask a sub-agent to list the files",
    `(?:ask|tell|have|get|let) (?:a|another) (?:sub-?agent|helper|agent)(?: to)? (?<task>.+)`,
    ({ task }) => ({ task: task! }),
  ),
  row(
    "sessions_spawn",
    "delegate: count the files",
    String.raw`delegate[:\s]+(?:this:\s*)?(?<task>.+)`,
    ({ task }) => ({
      task: task!,
    }),
  ),
  row(
    "sessions_list",
    "which sub-agents are running?",
    `(?:(?:list|show)(?: me)?(?: the| my| all)? ${AGENT}|(?:what|which) ${AGENT} (?:are there|are running|do (?:you|i) have)|what are (?:the|my|your) ${AGENT} doing)${END}`,
    () => ({}),
  ),
  row("sessions_stop", "stop the sub-agent", `(?:stop|end|cancel) ${WHICH}${END}`, ({ session }, { agents }) =>
    withSession(session ?? agents.at(-1)),
  ),
  row(
    "sessions_history",
    "what did the sub-agent say?",
    `what (?:did|has) ${WHICH} (?:say|said|do|done|find|found)(?: so far)?${END}`,
    ({ session }, { agents }) => withSession(session ?? agents.at(-1)),
  ),
  row("sessions_send", "tell the sub-agent to hurry", `tell ${WHICH} (?<text>.+)`, ({ session, text }, { agents }) => {
    const to = session ?? agents.at(-1);
    return to === undefined ? undefined : { session: to, text: text!.trim() };
  }),
  // Nothing was started here that could be meant: what there is, is the best answer.
  row(
    "sessions_list",
    "show my helpers",
    `(?:stop|end|cancel|tell|what did|what has) (?:the |my )?${AGENT}\\b.*`,
    () => ({}),
  ),
  row(
    "wait",
    "wait 5 seconds",
    String.raw`wait(?: for)? (?<count>\d{1,4}|an?|one) ?(?<unit>s|m|h)(?:ec(?:ond)?s?|in(?:ute)?s?|ours?)?${END}`,
    ({ count, unit }) => ({ for: "time", seconds: Math.max(Number(count) || 1, 1) * UNITS[unit!.toLowerCase()]! }),
  ),
  row(
    "wait",
    "wait for the sub-agents",
    `wait (?:for|until)(?: the| my)? ${AGENT}(?: (?:are|is) (?:done|finished))?${END}`,
    () => ({
      for: "agents",
    }),
  ),
  row(
    "wait",
    "wait until the command is done",
    `wait (?:for|until)(?: the| my)? (?:commands?|process(?:es)?)(?: (?:are|is|has|have) (?:done|finished|ended))?${END}`,
    () => ({ for: "process" }),
  ),
  row(
    "process",
    "what is running?",
    `(?:(?:what is|what's|show what is) running(?: in the background)?|(?:list|show)(?: me)?(?: the| my)?(?: background| running)? (?:processes|commands))${END}`,
    () => ({ action: "list" }),
  ),
  row(
    "process",
    "stop the process p1",
    String.raw`(?:stop|end|kill)(?: the)?(?: background)? (?:process|command)(?: (?<id>\S+?))?${END}`,
    ({ id }, { processes }) => onProcess("kill", id ?? processes.at(-1)),
  ),
  row(
    "process",
    "show the output of the process p1",
    String.raw`(?:show(?: me)?|what is|what's|read) the (?:output|log) of(?: the)?(?: background)? (?:process|command)(?: (?<id>\S+?))?${END}`,
    ({ id }, { processes }) => onProcess("log", id ?? processes.at(-1)),
  ),
  row(
    "message",
    "send me a message: the kettle is on",
    String.raw`(?:(?:send|write) me a message(?: saying| that says)?|message me|text me|tell me right away)[:,\s]+(?<text>.+)`,
    ({ text }) => ({ text: unquote(text!) }),
  ),
];

/** Nobody said which, and none was started here: the list tells. */
function onProcess(action: "kill" | "log", id: string | undefined): JsonObject {
  return id === undefined ? { action: "list" } : { action, id };
}

function withSession(session: string | undefined): JsonObject | undefined {
  return session === undefined ? undefined : { session };
}
