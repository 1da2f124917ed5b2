/** `memory_save`, `memory_search`, `memory_forget`: what the agent remembers, through a port that knows whose session it is. */
import { z } from "zod";
import type { ActionPlan, Tool, ToolPlace } from "../../../core/contracts/index.ts";
import { AppError, type JsonObject, type Origin } from "../../../core/domain/index.ts";
import { defined, truthy } from "../../../core/kit/index.ts";
import { visible, visibleLine } from "../escape.ts";
import { parseInput } from "../input.ts";
import * as words from "./words.ts";

export const MEMORY_TOOLS: readonly string[] = ["memory_save", "memory_search", "memory_forget"];

/** Whether a plan as people read it lists nothing besides what was forgotten. One without a list is about a single thing. */
export function listsOnly(shown: string, isForgotten: (text: string) => boolean): boolean {
  return words.listed(shown).every(isForgotten);
}

const KINDS = ["fact", "preference", "person", "project", "decision", "procedure", "episode"] as const;

/** What these tools need from the rest of Lares. Whose memory it is follows from the caller; the scope is never the model's choice. */
export interface MemoryPort {
  /**
   * Durable when it resolves; `key` again is the same memory. `pending`: kept, but a person must agree first. `replaces` takes the
   * place of a fact, which stays as its history; `notReplaced` says why it could not. `replaced`: every fact
   * it took the place of, also without being asked to, when both say where somebody lives or the like. `near`: facts about the same, so that the model sees what it contradicts or repeats.
   */
  save(memory: {
    key: string;
    text: string;
    kind?: MemoryKind;
    replaces?: string;
    /** It expires then. */
    expiresAt?: number;
    caller: Caller;
  }): Promise<{
    id: string;
    state: string;
    notReplaced?: string;
    replaced: { id: string; text: string; origin: Origin }[];
    near: { id: string; text: string; origin: Origin }[];
  }>;
  /** Best first, only what the caller's session may see. `origin` says whose words each one is. */
  search(query: {
    query: string;
    caller: Caller;
  }): Promise<{ hits: MemoryHit[] /** In sentences. */; missing: string[] }>;
  /** What a memory says, when it is in the session's sight. */
  findText(memory: { id: string; caller: Caller }): Promise<string | undefined>;
  /** Deletes for good. False when there is no such memory in the session's sight; may be repeated. */
  forget(memory: { id: string; caller: Caller }): Promise<boolean>;
  /** All that goes when a topic or a person is forgotten: facts, and what was said about it. Deletes nothing. */
  about(topic: ForgottenTopic & { caller: Caller }): Promise<MemoryAbout>;
  /** A date or plain words as the moment a memory expires. Throws AppError for what is neither. */
  readEnd(end: { until: string; caller: Caller }): Promise<{ at: number; words: string; isOver: boolean }>;
  /** Deletes it for good and says what is gone; may be repeated. */
  forgetAbout(topic: ForgottenTopic & { caller: Caller }): Promise<MemoryAbout>;
}

interface ForgottenTopic {
  about: readonly string[];
  /** Names, topics or ids of what stays although it mentions that. */
  except?: readonly string[] | undefined;
}

export interface MemoryAbout {
  facts: { id: string; text: string }[];
  /** Messages of past talk: search no longer finds them, and models no longer read them. */
  said: { text: string }[];
  /** Longer names it is part of: everybody of a family. */
  names: string[];
  /** Names written much like it, which are left alone. */
  similar: string[];
  /** What was found for each topic; `again` means the same topic in a later call. `apart`: it was taken as one, and may list these. */
  topics: { about: string; again: string; facts: number; said: number; apart?: string[] }[];
}

export interface MemoryHit {
  id: string;
  text: string;
  source: string | null;
  /** When, as the asker's calendar has it: `2026-11-15`. */
  day: string;
  place?: string;
  origin: Origin;
}

type Caller = ToolPlace["caller"];
type MemoryKind = (typeof KINDS)[number];

/** What these tools say is ours; `memory_search` says of each answer whose words it holds. */
const OURS = { result: "own", failure: "own" } as const;

const id = z.string().min(1).max(64);
const saveInput = z.strictObject({
  text: z.string().min(1).max(4000),
  kind: z.enum(KINDS).optional(),
  replaces: id.optional(),
  until: z.string().trim().min(1).max(100).optional(),
});
const searchInput = z.strictObject({ query: z.string().min(1).max(2000) });
// With room for the quotes of a phrase that is meant as a whole.
const topic = z.string().trim().min(2).max(202);
const forgetInput = z
  .strictObject({
    id: id.optional(),
    about: z.union([topic, z.array(topic).min(1).max(20)]).optional(),
    except: z.array(topic).max(20).optional(),
  })
  .refine((given) => (given.id === undefined) !== (given.about === undefined), words.EITHER_ID_OR_ABOUT);
/** Lines of a preview; the rest is counted. */
const MOST_SHOWN = 20;
const LONGEST_SHOWN = 160;

export function createMemoryTools(port: MemoryPort): Tool[] {
  return [save(port), search(port), forget(port)];
}

function save(port: MemoryPort): Tool {
  return {
    spec: {
      name: "memory_save",
      description:
        "Remember one lasting fact for later conversations, as a sentence with absolute dates. Not for secrets, nor for what only matters today.",
      input: {
        type: "object",
        properties: {
          text: { type: "string", description: "one sentence" },
          kind: { type: "string", enum: [...KINDS], description: "default fact" },
          replaces: { type: "string", description: "id of the fact it replaces" },
          until: { type: "string", description: "expiry date or weekday" },
        },
        required: ["text"],
      },
    },
    repeat: "with-key",
    words: OURS,
    async plan(input, place) {
      const { text, kind, replaces, until } = parseInput("memory_save", saveInput, input);
      const end = until === undefined ? undefined : await readEnd(port, until, place.caller);
      const old = replaces === undefined ? undefined : await said(port, "memory_save", replaces, place.caller);
      const shown = [
        words.remember(visible(text), kind, end?.words),
        ...(old === undefined ? [] : [words.replacedText(visible(old))]),
      ].join("\n");
      const binding = {
        text,
        ...truthy({ kind, replaces, until }),
      };
      // "Next week" means another one when a person answers days later, so what is agreed to is the moment.
      const settled = end && new Date(end.at).toISOString();
      const fixed = settled === undefined || settled === until ? {} : { fixed: { ...binding, until: settled } };
      // What it replaces stays as its history and can be put back, so this too only adds.
      return { ...plan("memory_save", shown, binding), adds: true, ...fixed };
    },
    async run(input, place, key) {
      const { text, kind, replaces, until } = parseInput("memory_save", saveInput, input);
      const saved = await port.save({
        key,
        text,
        caller: place.caller,
        ...truthy({ kind, replaces }),
        ...(until ? { expiresAt: (await readEnd(port, until, place.caller)).at } : {}),
      });
      const near = saved.near.map((fact) => `${fact.id}: ${visibleLine(fact.text)}`);
      const still = saved.notReplaced && words.notReplaced(replaces, saved.notReplaced);
      const gone = saved.replaced.map((fact) => `${fact.id}: ${visibleLine(fact.text)}`);
      const told = [
        words.saved(saved.state, saved.id),
        ...(gone.length ? [words.replaces(saved.id), ...gone] : []),
        ...(still ? [still] : []),
        ...(near.length ? [words.SIMILAR, ...near] : []),
      ].join("\n");
      const origin = [...saved.near, ...saved.replaced].every((fact) => fact.origin === "own") ? "own" : "outside";
      return { text: told, origin, meta: { id: saved.id, state: saved.state } };
    },
  };
}

/** When a memory expires, on the person's clock. Throws TOOL_INPUT for what is no time, or one that is over. */
async function readEnd(port: MemoryPort, until: string, caller: Caller): Promise<{ at: number; words: string }> {
  const refused = (message: string) =>
    new AppError("TOOL_INPUT", {
      message: `memory_save: until: ${message}`,
      hint: "Give a day to come, such as 2027-01-31, next friday or in 3 weeks; leave it out for what stays true.",
      origin: "own",
    });
  try {
    const end = await port.readEnd({ until, caller });
    if (!end.isOver) return end;
    throw refused(`${visibleLine(until)} is over, so it would be forgotten at once.`);
  } catch (error) {
    if (!(error instanceof AppError) || error.code === "TOOL_INPUT") throw error;
    throw refused(error.message);
  }
}

/** The words of a memory, so that nobody has to agree to an id. */
async function said(port: MemoryPort, tool: string, memory: string, caller: Caller): Promise<string> {
  const text = await port.findText({ id: memory, caller });
  if (text !== undefined) return text;
  throw new AppError("TOOL_INPUT", {
    message: `${tool}: There is no memory ${visibleLine(memory)} here.`,
    hint: words.IDS_FROM_SEARCH,
  });
}

function search(port: MemoryPort): Tool {
  return {
    spec: {
      name: "memory_search",
      description:
        "Search what you remember and what was said in earlier conversations. Use it before you speak of the past or say that you don't know.",
      input: {
        type: "object",
        properties: { query: { type: "string", description: "a few words" } },
        required: ["query"],
      },
    },
    repeat: "safe",
    words: OURS,
    async plan(input) {
      const { query } = parseInput("memory_search", searchInput, input);
      return {
        tool: "memory_search",
        risk: "read",
        targets: [],
        shown: words.searchFor(visible(query)),
        binding: { query },
      };
    },
    async run(input, place) {
      const { query } = parseInput("memory_search", searchInput, input);
      const { hits: found, missing } = await port.search({ query, caller: place.caller });
      const lines = found.map((hit) => {
        const source = hit.source === null ? "" : ` [${hit.source}${hit.place ? `, ${hit.place}` : ""}]`;
        return `${hit.id} ${hit.day}${source}: ${hit.text}`;
      });
      const text = [lines.join("\n") || words.NOTHING_FOUND, ...missing].join("\n");
      const origin = found.every((hit) => hit.origin === "own") ? "own" : "outside";
      return { text, origin, meta: { found: found.length } };
    },
  };
}

function forget(port: MemoryPort): Tool {
  return {
    spec: {
      name: "memory_forget",
      description:
        "Delete a memory for good by its id, or everything about topics or people, including what was said about it. Give one of them.",
      input: {
        type: "object",
        properties: {
          id: { type: "string", description: "as memory_search shows it" },
          about: {
            type: "array",
            items: { type: "string" },
            description: "topics or people's whole names, one each",
          },
          except: { type: "array", items: { type: "string" }, description: "names, words or ids of what stays" },
        },
      },
    },
    repeat: "safe",
    words: OURS,
    async plan(input, place) {
      const { id, about = [], except } = parseInput("memory_forget", forgetInput, input);
      if (id !== undefined) {
        const text = await said(port, "memory_forget", id, place.caller);
        return plan("memory_forget", words.forget(visible(text)), { id });
      }
      const going = await port.about({ about: [about].flat(), except, caller: place.caller });
      const named = going.topics.map((topic) => visibleLine(topic.about)).join(", ");
      const shown = words.forgetAbout(named, inWords(going), (except ?? []).map(visibleLine));
      // What is agreed to is what was shown: something said since asks again, and topics aren't taken apart differently.
      const fixed = { about: going.topics.map(({ again }) => again), ...defined({ except }) };
      return { ...plan("memory_forget", shown, { ...fixed, going: going.facts.map((fact) => fact.id) }), fixed };
    },
    async run(input, place) {
      const { id, about = [], except } = parseInput("memory_forget", forgetInput, input);
      if (id !== undefined) {
        const gone = await port.forget({ id, caller: place.caller });
        return gone
          ? { text: words.FORGOTTEN }
          : { text: `${words.noSuchMemory(visibleLine(id))} ${words.IDS_FROM_SEARCH}`, isError: true };
      }
      const gone = await port.forgetAbout({ about: [about].flat(), except, caller: place.caller });
      return { text: [words.forgot(counted(gone)), ...eachTopic(gone)].join("\n") };
    },
  };
}

function inWords(going: MemoryAbout): string {
  const { facts, said, names, similar } = going;
  const lines = [...facts.map(({ text }) => `- ${text}`), ...said.map(({ text }) => words.saidLine(text))];
  const shown = lines.slice(0, MOST_SHOWN).map((line) => visible(line.slice(0, LONGEST_SHOWN)));
  const more = lines.length - shown.length;
  return [
    `${counted({ facts, said })}.`,
    ...eachTopic(going),
    ...(names.length > 1 ? [words.namesInIt(names.slice(0, MOST_SHOWN).map(visibleLine))] : []),
    ...shown,
    ...(more > 0 ? [words.andMore(more)] : []),
    ...(similar.length > 0 ? [words.similarStay(similar.map(visibleLine))] : []),
  ].join("\n");
}

/** One line for each of several topics, and for one that nothing mentions. */
function eachTopic({ topics }: MemoryAbout): string[] {
  return topics.flatMap(({ about, facts, said, apart }) => {
    const name = visibleLine(about);
    const together = apart ? [words.takenAsOne(name, apart.map(visibleLine))] : [];
    if (facts + said === 0) return [words.noMention(name), ...together];
    return topics.length > 1 ? [words.topicLine(name, facts, said), ...together] : together;
  });
}

function counted({ facts, said }: Pick<MemoryAbout, "facts" | "said">): string {
  return words.counted(facts.length, said.length);
}

function plan(tool: string, shown: string, binding: JsonObject): ActionPlan {
  return { tool, risk: "state", targets: [], shown, binding, changes: "memory" };
}
