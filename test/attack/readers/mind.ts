/** What is remembered, and what people ask and command. */
import { answerWords } from "../../../src/core/domain/answer-words.ts";
import type { InboundMessage, SessionKey } from "../../../src/core/domain/index.ts";
import { meant, recalledIn } from "../../../src/edges/models/practice/recall.ts";
import { matchRule } from "../../../src/edges/models/practice/rules/index.ts";
import { type CommandParts, makeCommands } from "../../../src/flow/commands/commands.ts";
import { readChecklist } from "../../../src/mind/heartbeat/checklist.ts";
import { capturedByRules, looksLikeInstruction } from "../../../src/mind/memory/capture/extract.ts";
import { htmlParts, markdownParts, textParts } from "../../../src/mind/memory/documents/parts.ts";
import { findTopic } from "../../../src/mind/memory/facts.ts";
import { askedRelation, namesIn, relationsIn } from "../../../src/mind/memory/graph.ts";
import { longerNames, readTopic, Spelling, settleTopic } from "../../../src/mind/memory/naming/topic.ts";
import { readQuestion, speakersIn, withoutNames } from "../../../src/mind/memory/search/question.ts";
import { readSpeaker, splitWords, stem } from "../../../src/mind/memory/text/analyse.ts";
import { editsBetween } from "../../../src/mind/memory/view/edits.ts";
import { likeness, parseItems, patched } from "../../../src/mind/memory/view/items.ts";
import type { Rows } from "./reader.ts";

const said = async () => "";
const approval = () => Promise.reject(new Error("Nothing waits."));
const parts: CommandParts = {
  ...{ called: (hint) => hint, current: async () => undefined },
  ...{
    reset: async () => {},
    approvals: { find: approval, resolve: approval, waiting: async () => [], justAsked: async () => [] },
  },
  ...{ status: said, tune: said, compact: said, usage: said, agents: said, schedules: said, timezone: said },
  ...{
    memory: said,
    exported: said,
    goal: said,
    helpers: async () => [],
    reload: async () => {},
    pair: async () => ({ sender: "", channel: "", account: "" }),
    prompts: { list: () => [], get: async () => undefined },
    mayApprove: () => true,
  },
};
const commands = makeCommands(parts);
const message = { authority: "owner" } as InboundMessage;
const placement = { session: "main" as SessionKey, agent: "main", person: "owner" };

const TOPIC = readTopic("jane smith");

export const MIND: Rows = {
  "an answer to a question": (text) => [answerWords(text), answerWords(`yes ${text}`)],
  "a command": (text) => commands.run(`/${text}`, { placement, message }),
  "the arguments of a command": (text) =>
    Promise.all(
      ["approve", "deny", "model", "think", "compact", "timezone", "pair", "memory"].map((name) =>
        commands.run(`/${name} ${text}`, { placement, message }).catch(() => {}),
      ),
    ),
  "words for the practice model": (text) => [matchRule(text), matchRule(text.slice(0, 4000))],
  "what the practice model made before": (text) =>
    ["exec", "memory_save", "schedule_add", "schedule_list", "sessions_spawn"].map((name) => {
      const content = [{ type: "tool-result" as const, id: "1", name, text }];
      return [recalledIn([{ role: "tool", content }]), meant(text, [text])];
    }),
  "the words of a memory": splitWords,
  "the stem of a word": stem,
  "who says it": readSpeaker,
  "relations in a memory": relationsIn,
  "relations behind a name": (text) => relationsIn(`Anna is ${text}`),
  "names in a memory": namesIn,
  "what may mention a topic": (text) => TOPIC.mayMention(text),
  "how a topic's words are written": (text) => new Spelling(TOPIC).add(text),
  "what mentions a topic": (text) => settleTopic(TOPIC, new Spelling(TOPIC))(text),
  "longer names with a topic in them": (text) => longerNames(readTopic("smith"), text),
  "a topic to forget": (text) => {
    const topic = readTopic(text.slice(0, 200));
    return settleTopic(topic, new Spelling(topic))(text);
  },
  "a question for a relation": askedRelation,
  "a question": (text) => [readQuestion(text), withoutNames(text, new Set(["a"])), speakersIn(text, [["Ana Lima", 1]])],
  "a fact's topic": (text) => [findTopic(text, undefined), findTopic(text.slice(0, 199), "p")],
  "facts in what was said": (text) => capturedByRules([{ role: "user", text }], undefined),
  "an instruction in disguise": looksLikeInstruction,
  "a document": (text) => [markdownParts(text), textParts(text)],
  "a document in HTML": htmlParts,
  "a file of memories": (text) => {
    const items = parseItems(text);
    return patched(text, new Map(items.map((item) => [item.from, "b"])), ["c"]);
  },
  // 65,000 facts that all changed: more than anybody keeps.
  "an edited file of memories": (text) => {
    const items = parseItems(text);
    return editsBetween(
      items.map((item, at) => ({ id: String(at), text: `${item.text} b` })),
      items,
    );
  },
  "two memories alike": (text) => likeness(text, `${text}b`),
  "a heartbeat's list": readChecklist,
};
