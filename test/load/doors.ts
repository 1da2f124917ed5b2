/**
 * Every way to get a turn, as a table: the same work through each door, so that what one of them leaves behind can be measured.
 * A door opens once and is then knocked on, `atOnce` at a time.
 */
import { WebSocket } from "ws";
import { type FarSide, type Lares, sendHook, startFarSide, until } from "../support/index.ts";

export interface Door {
  name: string;
  /** How many callers knock side by side. */
  atOnce?: number;
  /** Turns until the conversations held in memory are as large as they may get, where it takes longer than elsewhere. */
  warm?: number;
  /** Joined to the settings of every run. */
  config?: object | (() => Promise<object>);
  open(lares: Lares): Promise<OpenDoor> | OpenDoor;
}

export interface OpenDoor {
  /** One turn, from its message to the moment the caller is done with it. */
  knock(n: number): Promise<void>;
  /** Waits for what callers left behind unfinished, so that work under way is not taken for a leak. */
  settle?(): Promise<void>;
  close?(): Promise<void>;
}

/** Few enough that their conversations stay in memory, so that what grows is what a turn leaves behind. */
const PEOPLE = 20;
const person = (n: number) => `p${n % PEOPLE}`;
/** What Lares takes from one chat in quick turns before it suspects a bot. */
const MOST_IN_A_ROW = 10;
/** Somebody who comes again after so many others, ten messages each, is not taken for a bot. */
const MOST_CHATS = 100;
const ASKS = 'tool:exec {"command":"date"} then: say:done';

export const DOORS: readonly Door[] = [
  {
    name: "POST /chat",
    open: (lares) => ({
      async knock(n) {
        const { state } = await lares.chat(person(n), "hello");
        if (state !== "answered") throw new Error(`not answered: ${state}`);
      },
    }),
  },
  { name: "POST /v1/chat/completions", open: (lares) => ({ knock: (n) => complete(lares, n, false) }) },
  { name: "POST /v1/chat/completions, streamed", open: (lares) => ({ knock: (n) => complete(lares, n, true) }) },
  {
    name: "POST /rpc/chat.send",
    open: (lares) => ({
      async knock(n) {
        await lares.rpc("chat.send", { message: "hello", user: person(n) });
      },
    }),
  },
  { name: "WebSocket /ws", open: openSocket },
  channelDoor(),
  {
    name: "a schedule",
    open: async (lares) => {
      const jobs = Array.from({ length: PEOPLE }, (_, i) => `job-${i}`);
      for (const name of jobs) await lares.rpc("schedule.add", { name, prompt: "hello", every: "1 day", keepHours: 0 });
      // A job runs once at a time.
      const last = new Map<string, Promise<void>>();
      const run = async (id: string) => {
        const { turn } = await lares.rpc("schedule.run", { id });
        await lares.rpc("turns.wait", { turn });
      };
      return {
        knock(n) {
          const id = jobs[n % PEOPLE]!;
          const done = (last.get(id) ?? Promise.resolve()).then(() => run(id));
          last.set(id, done);
          return done;
        },
      };
    },
  },
  {
    name: "an approval, answered",
    // Long enough to be a setting, too short to wait.
    config: { gateway: { http: { wait: 0.001 } } },
    open: (lares) => ({
      async knock(n) {
        const { turn, approval } = await lares.chat(`${person(n)}-${n}`, ASKS);
        await lares.rpc("approvals.resolve", { id: approval!.id, decision: "deny" });
        await lares.rpc("turns.wait", { turn });
      },
    }),
  },
  {
    name: "a caller that hangs up",
    // Messages of callers that are gone join one turn, so conversations grow more slowly than elsewhere.
    warm: 14_000,
    open: (lares) => ({
      async knock(n) {
        await lares.chat(person(n), "delay:20 say:late", { signal: AbortSignal.timeout(10) }).catch(() => {});
      },
      // A session's turns run one after the other, so the answer to a last message says that all before it are over.
      async settle() {
        await Promise.all(Array.from({ length: PEOPLE }, (_, n) => lares.chat(person(n), "hello")));
      },
    }),
  },
  {
    name: "a caller that waits in vain",
    atOnce: 40,
    config: { gateway: { http: { wait: 1 } } },
    open: (lares) => ({
      async knock(n) {
        const { approval } = await lares.chat(`v${n % 400}`, ASKS);
        if (approval) await lares.rpc("approvals.resolve", { id: approval.id, decision: "deny" });
      },
      // Nobody waits for what follows a denial.
      async settle() {
        await until("every turn is over", async () => !(await lares.rpc("turns.list", { open: true })).turns.length);
      },
    }),
  },
];

/** The far side is up before Lares starts, because its address is in the settings. */
function channelDoor(): Door {
  let far: FarSide;
  let sent = 0;
  return {
    name: "a channel",
    async config() {
      far = await startFarSide();
      const limits = { maxMessagesPerHour: 1_000_000, maxMessagesPerUser: 1_000_000 };
      return { channels: { webhook: { load: { secret: far.secret, url: far.url, dedupes: true, limits } } } };
    },
    warm: 12_000,
    open: (lares) => ({
      async knock(n) {
        // Somebody else after ten messages: one who answers at once every time is taken for a bot.
        const hook = { id: `m${n}`, chat: `c${Math.floor(n / MOST_IN_A_ROW) % MOST_CHATS}`, text: "hello" };
        const { status, json } = await sendHook(lares, "load", far.secret, hook);
        if (status !== 202) throw new Error(`not taken: ${status} ${JSON.stringify(json)}`);
        // Answers of one chat may be joined, so the turn's own end is what is waited for.
        await lares.rpc("turns.wait", { turn: json.turn! });
        if (++sent % 500 === 0) far.shown.length = far.arrivals.length = 0;
      },
      close: () => far.close(),
    }),
  };
}

async function complete(lares: Lares, n: number, stream: boolean): Promise<void> {
  const body = { model: "lares", user: person(n), stream, messages: [{ role: "user", content: "hello" }] };
  const { status, text } = await lares.request("POST", "/v1/chat/completions", { body });
  if (status !== 200 || (stream && !text.includes("[DONE]"))) throw new Error(`not answered: ${status} ${text}`);
}

async function openSocket(lares: Lares): Promise<OpenDoor> {
  const headers = { authorization: `Bearer ${lares.token}` };
  const socket = new WebSocket(`${lares.url.replace("http", "ws")}/ws`, { headers });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const waiting = new Map<string, (frame: { ok: boolean }) => void>();
  socket.on("message", (data: Buffer) => {
    const frame = JSON.parse(data.toString()) as { type: string; id: string; ok: boolean };
    if (frame.type !== "res") return;
    waiting.get(frame.id)?.(frame);
    waiting.delete(frame.id);
  });
  return {
    async knock(n) {
      const frame = await new Promise<{ ok: boolean }>((resolve) => {
        waiting.set(`${n}`, resolve);
        const params = { message: "hello", user: person(n) };
        socket.send(JSON.stringify({ type: "req", id: `${n}`, method: "chat.send", params }));
      });
      if (!frame.ok) throw new Error(JSON.stringify(frame));
    },
    async close() {
      socket.terminate();
    },
  };
}
