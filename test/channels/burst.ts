/**
 * A burst of messages into one Telegram account (the fake, with Telegram's limits on): every one admitted once and said to the
 * model once, in the order of its chat, memory flat, and no more sent than the platform takes. Exit code 1 when that is broken.
 *
 * Flat, by two rules: the first half of the rounds fills what is bounded (windows of conversations, the rings of events and log, V8's
 * own room), so at least eight are wanted. After any later round resident memory is at most 15 % over what it was half-way, and by the
 * last round the heap after a collection has grown by less than 512 bytes a message since: one kept for good costs more than that.
 *
 *   npm run test:burst                    1,000 messages of 200 people, eight times into the same process (about 45 s each)
 *   npm run test:burst -- 5000 500 1      messages, people, rounds
 */
import { pathToFileURL } from "node:url";
import { startTelegram } from "../fakes/telegram/index.ts";
import { residentMb, startLares, startModel, until, userTexts, weighable } from "../support/index.ts";
import { connected } from "./support.ts";

/** Fewer say only how fast the bounded things fill. */
const LEAST_ROUNDS = 8;
const MOST_GROWTH = 1.15;
const MOST_KEPT_BYTES = 512;

export interface BurstReport {
  messages: number;
  people: number;
  /** Until Telegram holds none of them any more: all are durable here. */
  admittedMs: number;
  /** Until every answer is in its chat. */
  answeredMs: number;
  answers: number;
  refusedByLimit: number;
  /** Messages the model got not once, or out of order in their chat. */
  lost: number;
  doubled: number;
  outOfOrder: number;
  residentMb: { before: number; most: number; after: number };
  /** After a forced collection. */
  heapBytes: number;
}

export async function burst(options: {
  messages: number;
  people: number;
  rounds?: number;
  paceMs?: number;
  onRound?: (report: BurstReport) => void;
}): Promise<BurstReport[]> {
  const { messages, people, rounds = 1, paceMs = 1000 } = options;
  const [fake, model] = await Promise.all([startTelegram(), startModel()]);
  const account = { token: fake.token, apiUrl: fake.url, dm: "open", live: false, paceMs };
  const scales = weighable();
  // Many rounds cost more than a day may by default, and then nothing is asked any more.
  const budgets = { perDay: { dollars: 10_000 } };
  const env = { ...model.env, ...scales.env };
  const lares = await startLares({ env, config: { budgets, channels: { telegram: { main: account } } } });
  const resident = () => residentMb(lares.pid);
  const settled = async () => {
    const { deliveries, turns } = await lares.rpc("status", {});
    return deliveries.waiting === 0 && turns.queued + turns.running === 0;
  };

  async function round(nth: number): Promise<BurstReport> {
    model.reset();
    fake.calls.length = 0;
    fake.sent.length = 0;
    const before = resident();
    let most = before;
    const watch = setInterval(() => {
      most = Math.max(most, resident());
    }, 50);
    const began = performance.now();
    const first = nth * messages;
    for (let i = 0; i < messages; i++) fake.say(100 + (i % people), 100 + (i % people), `burst-${first + i}.`);
    await until("all to be admitted", () => fake.pending() === 0, { withinMs: 300_000 });
    const admittedMs = performance.now() - began;
    await until("all to be answered", settled, { withinMs: 600_000, instead: () => lares.rpc("status", {}) });
    const answeredMs = performance.now() - began;
    clearInterval(watch);
    const seen = said(model.requests, first);
    return {
      messages,
      people,
      admittedMs: Math.round(admittedMs),
      answeredMs: Math.round(answeredMs),
      answers: fake.sent.length,
      refusedByLimit: fake.calls.filter((c) => c.method === "sendMessage" && c.status === 429).length,
      lost: messages - seen.size,
      doubled: [...seen.values()].filter((count) => count > 1).length,
      outOfOrder: disorder(model.requests),
      residentMb: { before: Math.round(before), most: Math.round(most), after: Math.round(resident()) },
      heapBytes: await scales.heapOf(lares.pid),
    };
  }

  try {
    await connected(lares, "telegram/main");
    // Everything that is loaded once is loaded.
    fake.say(1, 1, "say:warm");
    await until("the first answer", () => fake.sent.length === 1);
    // Telegram's own figures, with room for its clock: a second a chat, thirty a second.
    fake.limits = { perChatMs: paceMs && paceMs - 50, perSecond: 30 };
    const reports: BurstReport[] = [];
    for (let nth = 0; nth < rounds; nth++) {
      const report = await round(nth);
      reports.push(report);
      options.onRound?.(report);
    }
    return reports;
  } finally {
    await lares.dispose();
    await Promise.all([fake.close(), model.close()]);
  }
}

/** What is not flat, in words; nothing when it is, or when there were too few rounds to tell. */
export function notFlat(reports: readonly BurstReport[]): string[] {
  if (reports.length < LEAST_ROUNDS) return [];
  const [base, ...later] = reports.slice(Math.floor(reports.length / 2) - 1) as [BurstReport, ...BurstReport[]];
  const last = later.at(-1)!;
  const most = Math.max(...later.map((one) => one.residentMb.after));
  const grown = most / base.residentMb.after;
  const kept = (last.heapBytes - base.heapBytes) / later.reduce((sum, one) => sum + one.messages, 0);
  return [
    ...(grown > MOST_GROWTH ? [`Not flat: ${most} MB resident, ${base.residentMb.after} MB half-way.`] : []),
    ...(kept > MOST_KEPT_BYTES ? [`Not flat: ${Math.round(kept)} bytes of heap are kept for each message.`] : []),
  ];
}

type Requests = Awaited<ReturnType<typeof startModel>>["requests"];

/** How often each message of this round is in what the model was told; earlier rounds are history by now. */
function said(requests: Requests, first: number): Map<number, number> {
  const counts = new Map<number, number>();
  for (const request of requests) {
    const texts = numbersIn(userTexts(request).join(" ")).filter((n) => n >= first);
    for (const n of new Set(texts)) if (texts.filter((m) => m === n).length > 1) counts.set(n, 2);
    for (const n of texts) counts.set(n, Math.max(counts.get(n) ?? 0, 1));
  }
  return counts;
}

function disorder(requests: Requests): number {
  return requests.filter((request) => {
    const numbers = numbersIn(userTexts(request).join(" "));
    return numbers.some((n, i) => i > 0 && n < numbers[i - 1]!);
  }).length;
}

function numbersIn(text: string): number[] {
  return [...text.matchAll(/burst-(\d+)\./g)].map((match) => Number(match[1]));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [messages = 1000, people = 200, rounds = 8] = process.argv.slice(2).map(Number);
  const onRound = (report: BurstReport) => console.log(JSON.stringify(report));
  const reports = await burst({ messages, people, rounds, onRound });
  const grown = notFlat(reports);
  for (const one of grown) console.error(one);
  if (grown.length || reports.some(({ lost, doubled, outOfOrder }) => lost || doubled || outOfOrder))
    process.exitCode = 1;
}
