/**
 * A burst of messages into one Telegram account (the fake, with Telegram's limits on): every one admitted once and said to the
 * model once, in the order of its chat, memory flat, and no more sent than the platform takes.
 *
 *   npm run test:burst                    1,000 messages of 200 people, three times into the same process
 *   npm run test:burst -- 5000 500 1      messages, people, rounds
 */
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { startTelegram } from "../fakes/telegram/index.ts";
import { startLares, startModel, until, userTexts } from "../support/index.ts";
import { connected } from "./support.ts";

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
}

export async function burst(options: {
  messages: number;
  people: number;
  rounds?: number;
  paceMs?: number;
}): Promise<BurstReport[]> {
  const { messages, people, rounds = 1, paceMs = 1000 } = options;
  const [fake, model] = await Promise.all([startTelegram(), startModel()]);
  const account = { token: fake.token, apiUrl: fake.url, dm: "open", live: false, paceMs };
  const lares = await startLares({ env: model.env, config: { channels: { telegram: { main: account } } } });
  const resident = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${lares.pid}/status`, "utf8"))![1]) / 1024;
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
    for (let nth = 0; nth < rounds; nth++) reports.push(await round(nth));
    return reports;
  } finally {
    await lares.dispose();
    await Promise.all([fake.close(), model.close()]);
  }
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
  const [messages = 1000, people = 200, rounds = 3] = process.argv.slice(2).map(Number);
  const reports = await burst({ messages, people, rounds });
  for (const report of reports) console.log(JSON.stringify(report));
  if (reports.some(({ lost, doubled, outOfOrder }) => lost || doubled || outOfOrder)) process.exitCode = 1;
}
