/** What the model reads: a prefix that stays byte for byte the same, and windows that are never overrun. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type NormalRequest, notesOf, type SeenRequest, textOf } from "../fakes/model-server/index.ts";
import { COMPACTED_SAYS, Lares, narrowConfig, narrowScript, startModel, toolResults, until } from "../support/index.ts";
import { pretend } from "../support/pretend.ts";

const WINDOW = 8192;
const session = (user: string) => `agent:main:http:owner:${user}`;
const words = (n: number, of = "lorem") => `${of} `.repeat(n);

/** The request without its cache marks, as text: what a provider compares with what it has kept. */
function bare(value: unknown): string {
  return JSON.stringify(value, (key, inner: unknown) => (key === "cache_control" ? undefined : inner));
}

type Blocks = { content: { cache_control?: unknown }[] }[];

/** Whether a request has a cache mark where another one ends. */
function isMarked(request: SeenRequest, end: SeenRequest): boolean {
  const at = (end.body.messages as Blocks).length - 1;
  const blocks = (end.body.messages as Blocks)[at]!.content.length;
  return (request.body.messages as Blocks)[at]!.content[blocks - 1]!.cache_control !== undefined;
}

describe("the request", () => {
  let model: Awaited<ReturnType<typeof startModel>>;
  let lares: Lares;
  beforeAll(async () => {
    model = await startModel();
    lares = await new Lares({ env: model.env, config: { policy: { mode: "record" } } }).start();
  });
  afterAll(async () => {
    await lares?.dispose();
    await model?.close();
  });

  it("with 100 facts a hello stays within the bar, and a stranger's facts stay out", async () => {
    await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        lares.rpc("memory.add", { text: `Box ${i} holds the papers of year ${1900 + i}` }),
      ),
    );
    await lares.rpc("memory.add", { text: "Only Bo knows this", scope: "person:telegram:bo" });
    model.reset();
    await lares.chat("newcomer", "hello");
    const [hello] = model.requests;
    expect(hello!.bytes / 4).toBeLessThanOrEqual(4300);
    // In the owner's MEMORY.md, which is part of the instructions, or in the notes.
    const read = JSON.stringify(hello!.body);
    expect(read).toMatch(/Box \d+ holds the papers/);
    expect(read).not.toContain("Only Bo");
  });

  it("two chats of an agent share the instructions up to what belongs to the chat (CONTEXT-1)", async () => {
    model.reset();
    await lares.chat("first", "hello");
    await lares.chat("second", "hello");
    const [one, two] = model.requests.map((r) => r.body.system as { text: string; cache_control?: unknown }[]);
    expect(one).toHaveLength(2);
    expect(one![0]).toEqual(two![0]);
    expect(one![0]!.cache_control).toBeDefined();
    expect(one![0]!.text).not.toContain("# Place");
    expect(one![1]!.text.trimStart()).toMatch(/^# Place/);
  });

  it("what Lares itself writes into a request is plain enough for one byte per character", async () => {
    model.reset();
    await lares.chat("plain", "hello");
    const { system, tools } = model.requests[0]!.body;
    // One other character and V8 holds, writes and encodes the whole request at two bytes each: 40 µs more for a hello.
    expect(JSON.stringify({ system, tools }).match(/[^\x00-\xff]/g)).toBeNull();
  });

  it("50 turns with tool calls send each byte once: what was sent is the beginning of what is sent next, and marked there (CONTEXT-2)", async () => {
    model.reset();
    for (let i = 0; i < 50; i++) {
      await lares.chat("steady", `turn ${i} tool:list {"path":"."} then: say:ok ${i}`);
      // What is remembered meanwhile is frozen for this session; a copy lost in a crash is read back the same.
      if (i === 10) await lares.rpc("memory.add", { text: "Ana moved to Porto" });
      if (i === 25) await lares.restart();
    }
    const requests = model.requests.filter((r) => r.messages.some((m) => textOf(m).startsWith("turn 0")));
    expect(requests).toHaveLength(100);
    const fixed = requests.map(({ body }) => bare([body.system, body.tools]));
    const said = requests.map(({ body }) => bare(body.messages).slice(0, -1));
    for (const [i, request] of requests.entries()) {
      expect(fixed[i]).toBe(fixed[0]);
      expect(isMarked(request, request)).toBe(true);
      expect(request.cacheMarks).toBeLessThanOrEqual(4);
      if (i === 0) continue;
      expect(said[i]!.startsWith(said[i - 1]!)).toBe(true);
      expect(isMarked(request, requests[i - 1]!)).toBe(true);
    }
    const ledger = await lares.rpc("context.get", { session: session("steady") });
    expect(ledger).toMatchObject({ counted: true, messages: { shown: 200, older: 0 }, compactions: [] });
    expect(ledger.sections.reduce((sum, s) => sum + s.tokens, 0)).toBeCloseTo(ledger.tokens, -1);
  }, 120_000);
});

describe("a window of 8k tokens", () => {
  let model: Awaited<ReturnType<typeof startModel>>;
  let lares: Lares;
  let narrow: ReturnType<typeof narrowScript>;
  const use = (say?: (request: NormalRequest) => ReturnType<Parameters<typeof model.use>[0]> & object) => {
    narrow = narrowScript((name) => (name === "large" ? 200_000 : WINDOW), pretend(say));
    model.use(narrow.script);
  };
  const ledger = (user: string) => lares.rpc("context.get", { session: session(user) });
  const compacted = (user: string) =>
    until(
      "it to be compacted",
      async () => {
        const now = await ledger(user);
        return now.compactions[0]?.state === "in force" && now.tokens < now.threshold ? now : undefined;
      },
      { instead: async () => [await ledger(user), lares.output] },
    );

  beforeAll(async () => {
    model = await startModel();
    const more = { context: { deadlineSeconds: 1 } };
    lares = await new Lares({
      config: narrowConfig(model.url, { small: WINDOW, large: 200_000 }, more),
    }).start();
  });
  afterAll(async () => {
    await lares?.dispose();
    await model?.close();
  });

  it("is compacted beside the conversation before it is full; requests, facts and identifiers go on; undo brings all back (CONTEXT-8)", async () => {
    use();
    await lares.chat("ana", "My dog is called Bruno. Remind me to book the vet tomorrow. The ticket is ORD-4711.");
    for (let i = 0; i < 12; i++) await lares.chat("ana", `story ${i} ${words(300)} say:I see ${i}`);
    const now = await compacted("ana");
    expect(narrow.seen.refused).toBe(0);
    for (const kept of ["My dog is called Bruno", "book the vet tomorrow", "ORD-4711"])
      expect(now.notes.carried).toContain(kept);
    const [one] = now.compactions;
    expect(one!.after).toBeLessThan(one!.before);
    await lares.chat("ana", "say:still here");
    expect(notesOf(model.requests.at(-1)!.messages)).toContain("Bruno");
    // The originals stay: readable, and shown to the model again on request.
    const { messages } = await lares.rpc("chat.history", { session: session("ana"), limit: 200 });
    expect(messages).toHaveLength(28);
    const undone = await lares.chat("ana", "/compact undo");
    expect(undone.response).toMatch(/^Undone/);
    const whole = await ledger("ana");
    expect(whole.compactions[0]).toMatchObject({ id: one!.id, state: "undone" });
    expect(whole.messages.shown).toBeGreaterThan(now.messages.shown);
    expect((await lares.chat("ana", "/compact the vet")).response).toMatch(
      /^Compacted \d+ older messages \(by a model\)/,
    );
    // Facts may be looked for at the same time, by a request of their own.
    const asked = model.requests.slice(-3).map((request) => textOf(request.messages.at(-1)!));
    expect(asked.join("\n")).toContain("Above all keep what concerns: the vet");
  });

  it("a summariser that stalls or fails is replaced by rules, and what it cost is counted (CONTEXT-9)", async () => {
    const { calls } = (await lares.rpc("usage.summary", {})).total;
    for (const [user, reply] of [
      ["stalled", { stall: true, text: "SUMMARY" }],
      ["failing", { fail: { kind: "auth" as const } }],
      ["empty", { text: "" }],
    ] as const) {
      use((request) => pretend(request.system.startsWith("You condense") ? reply : { text: "noted" }));
      for (let i = 0; i < 6; i++) await lares.chat(user, `I live at number ${i} Long Street. ${words(60)}`);
      const done = await lares.rpc("context.compact", { session: session(user) });
      expect(done).toMatchObject({ state: "done", how: "extract" });
      expect(done.after).toBeLessThan(done.before!);
      expect((await ledger(user)).notes.carried).toMatch(
        /I live at number 0 Long Street[\s\S]*person: I live at number/,
      );
    }
    expect((await lares.rpc("usage.summary", {})).total.calls).toBeGreaterThanOrEqual(calls + 18);
  });

  it("a provider that holds less than it is said to: refused, compacted and answered in the same turn, and remembered", async () => {
    use();
    for (let i = 0; i < 6; i++) await lares.chat("tight", `story ${i} ${words(150)} say:ok`);
    narrow = narrowScript(() => 4500);
    model.use(narrow.script);
    const answer = await lares.chat("tight", `now ${words(200)} say:fits`);
    expect(answer).toMatchObject({ state: "answered", response: "fits" });
    expect(answer.notices.join(" ")).toMatch(/compacted/);
    expect(narrow.seen.refused).toBe(1);
    expect((await ledger("tight")).window).toBe(4500);
    for (let i = 0; i < 4; i++) await lares.chat("tight", `more ${i} ${words(150)} say:ok`);
    expect(narrow.seen.refused).toBe(1);
  });

  it("a model with a smaller window takes over a long conversation", async () => {
    await lares.restart();
    use();
    await lares.chat("move", "say:hello");
    await lares.chat("move", "/model local/large");
    for (let i = 0; i < 12; i++) await lares.chat("move", `chapter ${i} ${words(500)} say:ok`);
    expect((await ledger("move")).tokens).toBeGreaterThan(WINDOW);
    await lares.chat("move", "/model local/small");
    expect(await lares.chat("move", "say:here I am")).toMatchObject({ state: "answered", response: "here I am" });
    expect(narrow.seen.refused).toBe(0);
    const now = await ledger("move");
    expect(now.tokens).toBeLessThan(now.limit);
    // In pieces the small model can read.
    expect(narrow.seen.answered.filter((r) => r.compacting).length).toBeGreaterThan(1);
  });

  it("long tool results are shortened, with the whole in a file; a turn of many calls goes on when it fills the window by itself", async () => {
    let calls = 0;
    use((request) => {
      if (request.system.startsWith("You condense")) return pretend({ text: COMPACTED_SAYS });
      const command = `seq ${++calls}0000 ${calls}9999`;
      return pretend(
        calls > 9 ? { text: "counted" } : { toolCalls: [{ id: `c${calls}`, name: "exec", input: { command } }] },
      );
    });
    const answer = await lares.chat("works", "Count for me, nine times");
    expect(answer).toMatchObject({ state: "answered", response: "counted" });
    expect(narrow.seen.refused).toBe(0);
    const shown = toolResults(model.requests.at(-1)!).at(-1)!.text;
    expect(shown.length / 4).toBeLessThan(0.3 * WINDOW);
    const [, file] = /The full text is in (\S+);/.exec(shown)!;
    expect(readFileSync(join(lares.workspace(), file!), "utf8").length).toBeGreaterThan(20_000);
    expect(notesOf(model.requests.at(-1)!.messages)).toContain("Count for me, nine times");
  });

  it("a message that cannot fit is refused in words, and the session goes on", async () => {
    use();
    await lares.chat("book", "say:go ahead");
    const answer = await lares.chat("book", `read this ${words(8000)}`);
    expect(answer.state).toBe("failed");
    expect(answer.reason).toMatch(/more than the model can read at once/);
    expect(await lares.chat("book", "say:on we go")).toMatchObject({ state: "answered", response: "on we go" });
    expect(narrow.seen.refused).toBe(0);
  });

  it("without budget it is compacted by rules", async () => {
    use((request) => pretend(request.system.startsWith("You condense") ? { text: COMPACTED_SAYS } : { text: "noted" }));
    for (let i = 0; i < 6; i++) await lares.chat("poor", `line ${i} ${words(60)}`);
    lares.configure(
      narrowConfig(model.url, { small: WINDOW }, { budgets: { perSession: { dollars: 0.000001 } } }) as object,
    );
    await lares.restart();
    const done = await lares.rpc("context.compact", { session: session("poor") });
    expect(done).toMatchObject({ state: "done", how: "extract" });
  });
});
