/**
 * A long life in a small window: a scripted conversation of many turns with the real program, whose model holds 8,192 tokens and
 * refuses whatever does not fit. Three things are said early, in the first tenth and in the middle, drowned in hundreds like
 * them; at the end they are asked for. The model knows only what is in its request: the notes, or what it finds by searching.
 */
import {
  directiveScript,
  isCompacting,
  type NormalRequest,
  type Reply,
  startModelServer,
  textOf,
} from "../fakes/model-server/index.ts";
import { Lares, narrowConfig, narrowScript } from "../support/index.ts";

export const WINDOW = 8192;

export interface LongLife {
  turns: number;
  /** Turns that did not end with an answer, and requests the model refused as too long. */
  failed: number;
  refused: number;
  compactions: number;
  /** How each was compacted. */
  how: Record<string, number>;
  recalled: { asked: string; answer: string; by: "notes" | "search" | "nothing"; right: boolean }[];
  /** Per turn: tokens the model read, compacting included; the largest single request. */
  tokens: number[];
  largest: number;
  ms: number[];
  rssMb: number;
  heapMb: number;
  messages: number;
}

interface Planted {
  /** As a share of all turns; 0 is the first. */
  at: number;
  said: string;
  asked: string;
  /** Where the answer stands in a text. */
  pattern: RegExp;
}

const PLANTED: readonly Planted[] = [
  {
    at: 0,
    said: "My locker code is KESTREL-4821.",
    asked: "What is my locker code?",
    pattern: /locker code is (KESTREL-\d+)/i,
  },
  {
    at: 0.1,
    said: "By the way, the spare key hangs behind the green clock.",
    asked: "Where does the spare key hang?",
    pattern: /spare key hangs (behind the \w+ clock)/i,
  },
  {
    at: 0.5,
    said: "My sister Ines marries on 14 June in Sintra.",
    asked: "When and where does my sister Ines marry?",
    pattern: /Ines marries on (\d+ June in \w+)/i,
  },
];

const TOPICS = ["the garden", "a novel", "the train timetable", "soup", "a neighbour", "chess", "the roof", "old maps"];
const THINGS = ["bicycle", "umbrella", "teapot", "lamp", "shelf", "radio", "coat", "desk", "kettle", "ladder"];

export async function liveLong(
  turns: number,
  onTurn: (turn: number, lares: Lares) => Promise<void> = async () => {},
): Promise<LongLife> {
  const life: LongLife = {
    ...{ turns, failed: 0, refused: 0, compactions: 0, how: {}, recalled: [], tokens: [], largest: 0, ms: [] },
    ...{ rssMb: 0, heapMb: 0, messages: 0 },
  };
  const narrow = narrowScript(() => WINDOW, scripted());
  const model = await startModelServer({ script: narrow.script, keep: false });
  const lares = new Lares({ config: narrowConfig(model.url, { small: WINDOW }) });
  try {
    await lares.start();
    const session = "agent:main:http:owner:long";
    let seen = 0;
    const turn = async (text: string) => {
      const began = performance.now();
      const answer = await lares.chat("long", text);
      life.ms.push(performance.now() - began);
      const fresh = narrow.seen.answered.slice(seen);
      seen = narrow.seen.answered.length;
      life.tokens.push(fresh.reduce((sum, r) => sum + r.tokens, 0));
      life.largest = Math.max(life.largest, ...fresh.map((r) => r.tokens));
      if (answer.state !== "answered") life.failed++;
      return answer;
    };
    for (let i = 0; i < turns; i++) {
      const planted = PLANTED.find((p) => Math.floor(p.at * turns) === i);
      await turn(planted ? planted.said : chatter(i));
      await onTurn(i, lares);
    }
    for (const { asked, said, pattern } of PLANTED) {
      const { response } = await turn(`Q: ${asked}`);
      const right = pattern.exec(said)![1]!;
      const by = response.startsWith("From my notes")
        ? "notes"
        : response.startsWith("I looked")
          ? "search"
          : "nothing";
      life.recalled.push({ asked, answer: response, by, right: response.includes(right) });
    }
    life.refused = narrow.seen.refused;
    life.messages = (await lares.rpc("sessions.get", { session })).messages;
    const ledger = await lares.rpc("context.get", { session });
    for (const { how } of ledger.compactions) life.how[how] = (life.how[how] ?? 0) + 1;
    life.compactions = narrow.seen.answered.filter((r) => r.compacting).length;
    const { rss, heapUsed } = (await lares.rpc("status", {})).memory;
    life.rssMb = rss / 2 ** 20;
    life.heapMb = heapUsed / 2 ** 20;
    return life;
  } finally {
    await lares.dispose();
    await model.close();
  }
}

/** Small talk, now and then a fact of the planted kind, now and then a wish for a tool. */
function chatter(i: number): string {
  const topic = TOPICS[(i * 7) % TOPICS.length]!;
  if (i % 20 === 7) return `My ${THINGS[Math.floor(i / 20) % THINGS.length]} is marked LOT-${(i * 7919) % 10_000}.`;
  if (i % 10 === 3) return `LIST please, number ${i}`;
  return `Turn ${i}: tell me more about ${topic}, and why it matters on day ${(i * 31) % 365} of the year. I wonder about ${TOPICS[(i * 3 + 1) % TOPICS.length]} too, though not much.`;
}

/** A model that knows nothing but what it is sent. */
function scripted(): (request: NormalRequest) => Reply {
  const compact = directiveScript();
  return (request) => {
    if (isCompacting(request)) return compact(request);
    // Other work of the house, such as noticing facts: this model has nothing to add.
    if (!request.tools.includes("memory_search")) return { text: "none" };
    const last = request.messages.at(-1)!;
    const said = request.messages.filter((m) => m.role === "user").map(textOf);
    const now = said.at(-1) ?? "";
    const question = PLANTED.find((p) => now === `Q: ${p.asked}`);
    const isAfterTool = last.role === "tool";
    if (question) {
      const before = said.slice(0, -1).join("\n");
      const known = question.pattern.exec(before)?.[1];
      if (known && !isAfterTool) return { text: `From my notes: ${known}.` };
      if (!isAfterTool) return { toolCalls: [{ name: "memory_search", input: { query: question.asked } }] };
      const found = last.parts.map((part) => (part.type === "tool-result" ? part.text : "")).join("\n");
      const answer = question.pattern.exec(found)?.[1];
      return { text: answer ? `I looked it up: ${answer}.` : "I do not know." };
    }
    if (now.startsWith("LIST") && !isAfterTool) return { toolCalls: [{ name: "list", input: { path: "." } }] };
    return { text: `I have heard you on that; there is more to say about it another time. (${now.length})` };
  };
}

export function mean(numbers: readonly number[]): number {
  return numbers.length ? numbers.reduce((sum, one) => sum + one, 0) / numbers.length : 0;
}

/** The last fifth of a life beside an early one: the window is full in both. */
export function growth(life: LongLife): { early: number; late: number; ratio: number } {
  const fifth = Math.floor(life.turns / 5);
  const early = mean(life.tokens.slice(fifth, 2 * fifth));
  const late = mean(life.tokens.slice(life.turns - fifth, life.turns));
  return { early, late, ratio: late / early };
}
