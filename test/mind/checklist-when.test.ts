/** Checklist of what a request must tell, lines 1 to 9: when it is, and that nothing told once changes later. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRecords } from "../../src/ground/records/index.ts";
import type { SeenRequest } from "../fakes/model-server/index.ts";
import { Lares, startModel, until } from "../support/index.ts";
import { env, PROTOCOLS, type Rig, START, sessionOf, startRig, tokens } from "./rig.ts";

const HOUR = 3_600_000;

/** Without the marks, which move on with each call: what a provider compares with what it has kept. */
const bare = (value: unknown) =>
  JSON.stringify(value, (key, inner: unknown) => (key === "cache_control" ? undefined : inner));

/** System, tools and messages of a request, wherever the protocol has them. */
function wire({ protocol, body }: SeenRequest): { fixed: string; said: string } {
  switch (protocol) {
    case "anthropic":
      return { fixed: bare([body.system, body.tools]), said: bare(body.messages) };
    case "openai-chat":
    case "openai-responses": {
      const all = (protocol === "openai-chat" ? body.messages : body.input) as unknown[];
      return { fixed: bare([all[0], body.tools]), said: bare(all.slice(1)) };
    }
    case "google":
      return { fixed: bare([body.systemInstruction, body.tools]), said: bare(body.contents) };
  }
}

describe.each(PROTOCOLS)("over %s", (protocol) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ protocol, config: { time: { zone: "Europe/Helsinki" } } });
  });
  afterAll(() => rig?.stop());
  const said = async (user: string, text = "hello") => {
    await rig.chat(user, text);
    return env(rig.last());
  };

  test("1: the first line has weekday, date, time and offset of the owner's zone", async () => {
    rig.clock.set(START);
    expect(await said("one")).toBe("[Sun 2026-11-15 15:09 +02:00]");
  });

  test("2: half past eleven at night in UTC is the next day in the zone", async () => {
    rig.clock.set("2026-11-15T23:30:00Z");
    expect(await said("two")).toBe("[Mon 2026-11-16 01:30 +02:00]");
  });

  test("3: two minutes later the time of day is enough", async () => {
    rig.clock.set(START);
    await said("three");
    rig.clock.advance(120_000);
    const line = await said("three");
    expect(line).toBe("[15:11]");
    expect(tokens(line)).toBeLessThanOrEqual(8);
  });

  test("4: five hours later it is the long form, with the gap", async () => {
    rig.clock.set(START);
    await said("four");
    rig.clock.advance(5 * HOUR);
    expect(await said("four")).toBe("[Sun 2026-11-15 20:09 +02:00, 5 h later]");
  });

  test("5: after midnight in the zone it is the long form", async () => {
    rig.clock.set("2026-11-15T21:50:00Z");
    await said("five");
    rig.clock.advance(20 * 60_000);
    expect(await said("five")).toBe("[Mon 2026-11-16 00:10 +02:00]");
  });

  test("7, 8: 20 turns, a restart and another zone change no byte of what was sent", async () => {
    rig.clock.set(START);
    rig.model.reset();
    for (let i = 0; i < 20; i++) {
      rig.clock.advance(7 * 60_000);
      await rig.chat("steady", `turn ${i} say:ok ${i}`);
      if (i === 9) await rig.restart();
      if (i === 14) await rig.rpc("config.set", { path: "time.zone", value: "America/Lima" });
    }
    const requests = rig.model.requests.map(wire);
    expect(requests).toHaveLength(20);
    for (const [i, request] of requests.entries()) {
      expect(request.fixed).toBe(requests[0]!.fixed);
      if (i > 0) expect(request.said.startsWith(requests[i - 1]!.said.slice(0, -1))).toBe(true);
    }
    expect(env(rig.last())).toMatch(/^\[Sun 2026-11-15 \d\d:\d\d -05:00|^\[\d\d:\d\d\]$/);
    await rig.rpc("config.set", { path: "time.zone", value: "Europe/Helsinki" });
  });
});

test("9: a message admitted before kill -9 is told with the same line after it", async () => {
  const model = await startModel();
  const lares = await new Lares({ env: { ...model.env, LARES_CRASH_AT: "accept.committed" } }).start();
  try {
    await lares.chat("ana", "hello").catch(() => undefined);
    await lares.gone;
    expect(model.requests).toHaveLength(0);
    const stored = await storedLines(lares.home);
    await lares.start({ LARES_CRASH_AT: "" });
    await until("the call", () => model.requests.length > 0);
    expect(stored).toHaveLength(1);
    expect(env(model.requests[0]!)).toBe(stored[0]);
  } finally {
    await lares.dispose();
    await model.close();
  }
});

test("after a compaction the next line has the date again, and the one after it only the time", async () => {
  const model = await startModel();
  const lares = await new Lares({ env: model.env }).start();
  const session = "agent:main:http:owner:ana";
  const said = async (text: string) => {
    model.reset();
    await lares.chat("ana", text);
    // Facts may be captured beside it: a request without a line is not the conversation's.
    return model.requests.map(env).find(Boolean);
  };
  try {
    for (let i = 0; i < 8; i++) await said(`line ${i} ${"lorem ".repeat(200)}`);
    expect(await lares.rpc("context.compact", { session })).toMatchObject({ state: "done" });
    expect(await said("hello")).toMatch(/^\[\w{3} \d{4}-\d\d-\d\d \d\d:\d\d [+-]\d\d:\d\d\]$/);
    // The long form once more is right only when midnight lies between the two.
    expect(await said("hello again")).toMatch(/^\[\d\d:\d\d\]$|^\[\w{3} .* 00:0\d /);
  } finally {
    await lares.dispose();
    await model.close();
  }
});

test("after a compaction inside of a turn the model still knows the date, and a restart changes no byte of it", async () => {
  const rig = await startRig({ window: 8192, config: { policy: { mode: "ignore" }, context: { maxTokens: 100_000 } } });
  rig.put(
    "agents/main/workspace/long.txt",
    `${"a line of some twenty words, so that it takes room in the window ".repeat(3)}\n`.repeat(400),
  );
  let n = 0;
  rig.model.use(({ tools, system }) => {
    if (!tools.length) return { text: "They read a long file." };
    if (n >= 9) return { text: `read ${system.length > 0}` };
    return { toolCalls: [{ name: "read", input: { path: "long.txt", offset: 1 + 20 * n++, limit: 20 } }] };
  });
  try {
    expect(await rig.chat("ana", "read it all, and tell me what day it is")).toMatchObject({ state: "answered" });
    const compacted = rig.model.requests.findIndex(({ raw }) =>
      raw.includes("Earlier in this conversation, compacted"),
    );
    expect(compacted).toBeGreaterThan(0);
    const { raw } = rig.last();
    expect(raw).not.toContain("[Sun 2026-11-15");
    expect(raw).toContain("compacted:\\nCompacted Sun 2026-11-15 13:09 +00:00.");
    await rig.restart();
    const { body } = await rig.rpc("context.request", { session: "agent:main:http:owner:ana" });
    expect(body).toContain("compacted:\\nCompacted Sun 2026-11-15 13:09 +00:00.");
  } finally {
    await rig.stop();
  }
});

/** The lines stored with admitted messages, read from the database itself. */
async function storedLines(home: string): Promise<string[]> {
  const records = await openRecords(join(home, "lares.db"), () => {});
  const rows = await records.all<{ envelope: string }>("SELECT envelope FROM inbox ORDER BY ord");
  records.close();
  return rows.map(({ envelope }) => envelope);
}

test("a change of the person's zone is said once, in the line before the next message; Place goes on as it was frozen", async () => {
  const rig = await startRig({});
  try {
    await rig.chat("mover", "hello");
    const { system } = rig.last();
    expect(system).toContain("Time zone: UTC.");
    await rig.chat("mover", "/timezone Asia/Tokyo");
    const shown = await rig.rpc("context.request", { session: sessionOf("mover"), text: "and now?" });
    await rig.chat("mover", "and now?");
    expect(rig.last().raw).toBe(shown.body);
    expect(env(rig.last())).toBe("[Sun 2026-11-15 22:09 +09:00 · time zone is now Asia/Tokyo]");
    await rig.restart();
    await rig.chat("mover", "again");
    expect(env(rig.last())).toBe("[22:09]");
    expect(rig.last().system).toBe(system);
    expect(rig.last().raw.match(/time zone is now/g)).toHaveLength(1);
    // A new conversation begins with the new zone, and has nothing to say about it.
    await rig.chat("mover", "/reset");
    await rig.chat("mover", "fresh");
    expect(rig.last().system).toContain("Time zone: Asia/Tokyo.");
    expect(env(rig.last())).not.toContain("time zone");
  } finally {
    await rig.stop();
  }
});
