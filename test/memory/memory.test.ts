import { afterEach, describe, expect, it } from "vitest";
import type { Embedder } from "../../src/core/contracts/index.ts";
import { ManualClock } from "../../src/core/kit/index.ts";
import { agentScope, type Memory, personScope, SHARED, teamScope } from "../../src/mind/memory/index.ts";
import { agree, letters, type Opened, openMemory, removeDir } from "./support.ts";

const open: Opened[] = [];
async function start(options: Parameters<typeof openMemory>[0] = {}): Promise<Opened> {
  const opened = await openMemory(options);
  open.push(opened);
  return opened;
}
afterEach(async () => {
  for (const opened of open.splice(0)) {
    await opened.close().catch(() => {});
    removeDir(opened.dir);
  }
});

const texts = (found: { text: string }[]) => found.map((hit) => hit.text);

describe("searching for a name", () => {
  const facts = [
    "Ben works at the bakery in Ghent",
    "The benefit concert is in May",
    "I met Ben and Anna at the market",
    "The bench near the river is green",
    "Anna likes green tea",
    "Nibbed beets need a bin",
  ];

  it.each(["Ben", "ben", "Ben?"])("%s finds what has it, and nothing else", async (query) => {
    const { memory } = await start({ embedder: letters() });
    for (const text of facts) await memory.add({ text });
    await memory.settled();
    expect(texts(await memory.search({ query })).sort()).toEqual([facts[0], facts[2]]);
  });

  it("what has all of several names comes before what has one; a name nobody has finds what is like it", async () => {
    const { memory } = await start({ embedder: letters() });
    for (const text of facts) await memory.add({ text });
    await memory.settled();
    expect(texts(await memory.search({ query: "Anna Ben" }))[0]).toBe(facts[2]);
    expect(await memory.search({ query: "Zebulon" })).not.toEqual([]);
    // A word that is no name still finds what is meant by it.
    expect((await memory.search({ query: "green" })).length).toBeGreaterThan(2);
  });
});

describe("adding", () => {
  it("keeps the order of the calls, also when nobody waits in between (MEMORY-6)", async () => {
    const { memory } = await start();
    const said = Array.from({ length: 40 }, (_, n) => `Ann: line ${n}`);
    await Promise.all(said.map((text) => memory.add({ text, source: "chat", scope: "c" })));
    expect(texts(await memory.list({ scope: "c" }))).toEqual(said);
  });

  it("gives a result the source, time and id it was added with", async () => {
    const { memory } = await start();
    const added = await memory.add({ text: "Ann: the ferry leaves at nine", source: "chat/3", at: 1234, scope: "c" });
    const [hit] = await memory.search({ query: "when does the ferry leave?", scope: "c" });
    expect(hit).toMatchObject({ id: added.id, text: "Ann: the ferry leaves at nine", source: "chat/3", at: 1234 });
    expect(hit!.score).toBeGreaterThan(0);
  });

  it("does not keep the same fact twice, but what was said twice in a talk stays twice", async () => {
    const { memory } = await start();
    const first = await memory.add({ text: "The router password is on the fridge" });
    expect(await memory.add({ text: " the router password is on the fridge" })).toEqual({
      id: first.id,
      state: "known",
    });
    await memory.add({ text: "Ann: Thanks!", source: "chat", scope: "c" });
    await memory.add({ text: "Ann: Thanks!", source: "chat", scope: "c" });
    expect(await memory.list({ scope: "c" })).toHaveLength(2);
  });

  it("makes the same memory once when a caller repeats its own id", async () => {
    const { memory } = await start();
    await memory.add({ id: "mem_mine", text: "Ann likes rain", source: "t1" });
    expect(await memory.add({ id: "mem_mine", text: "Ann likes rain", source: "t1" })).toEqual({
      id: "mem_mine",
      state: "known",
    });
    expect(await memory.list()).toHaveLength(1);
  });

  it("refuses an empty text", async () => {
    const { memory } = await start();
    await expect(memory.add({ text: "  " })).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });
});

describe("a contradiction", () => {
  it.each([
    ["I live in Bonn", "I moved to Lisbon last week", "where do I live"],
    ["My favourite colour is green", "My favorite colour is now blue", "favourite colour"],
    ["Ann works at the bakery", "Ann now works at the harbour office", "where does Ann work"],
    ["Ann's phone number is 123", "Ann's phone number is 456", "Ann's phone number"],
  ])("supersedes: %s → %s", async (before, after, query) => {
    const { memory } = await start();
    const old = await memory.add({ text: before, at: 1000 });
    expect(await memory.add({ text: after, at: 2000 })).toMatchObject({ state: "live", superseded: [old.id] });
    expect(texts(await memory.search({ query }))).toEqual([after]);
    expect(texts(await memory.list())).toEqual([after]);
    expect(await memory.get(old.id)).toMatchObject({ state: "superseded" });
  });

  it("leaves facts about somebody or something else alone", async () => {
    const { memory } = await start();
    await memory.add({ text: "Ann lives in Bonn" });
    await memory.add({ text: "Ben lives in Rome" });
    await memory.add({ text: "Ann's favourite tree is the oak" });
    await memory.add({ text: "Ann's favourite bird is the wren" });
    expect(await memory.list()).toHaveLength(4);
  });

  it("does not let an older fact that arrives late take the newer one's place", async () => {
    const { memory } = await start();
    await memory.add({ text: "Ann lives in Rome", at: 2000 });
    expect(await memory.add({ text: "Ann lives in Bonn", at: 1000 })).toMatchObject({ state: "superseded" });
    expect(texts(await memory.search({ query: "Ann lives" }))).toEqual(["Ann lives in Rome"]);
  });

  it("is not seen in what people say in a conversation", async () => {
    const { memory } = await start();
    await memory.add({ text: "Ann: I live in Bonn", source: "chat" });
    await memory.add({ text: "Ann: I live in Rome now", source: "chat" });
    expect(await memory.list()).toHaveLength(2);
  });
});

describe("forgetting", () => {
  it("leaves nothing: not in rows, words, vectors, graph, export, nor in the bytes of the index (MEMORY-7)", async () => {
    const { memory, records, dir } = await start({ embedder: letters() });
    await memory.add({ text: "Ann: we met Zorblatt at the quay", source: "chat", scope: "c" });
    const secret = await memory.add({ text: "Ann: Zorblatt lives in Xanthippopolis", source: "chat", scope: "c" });
    memory.start();
    await memory.settled();
    expect(texts(await memory.search({ query: "Xanthippopolis", scope: "c" }))[0]).toContain("Xanthippopolis");
    expect(await memory.forget(secret.id)).toEqual([secret.id]);

    expect(texts(await memory.search({ query: "Xanthippopolis", scope: "c" })).join()).not.toContain("Xanthippopolis");
    expect(await records.all("SELECT term FROM memory_fts_word WHERE term LIKE 'xanthipp%'")).toEqual([]);
    expect(
      await records.all("SELECT v.seq FROM memory_vector v LEFT JOIN memory m ON m.seq = v.seq WHERE m.seq IS NULL"),
    ).toEqual([]);
    expect(JSON.stringify(await memory.graph())).not.toContain("xanthipp");
    const exported = [];
    for await (const row of memory.export()) exported.push(row.text);
    expect(exported).toEqual(["Ann: we met Zorblatt at the quay"]);
    await agree(records);
    records.close();
    await expectGoneFromIndexBytes(dir, "xanthippopoli");
  });

  it("takes the older versions of the fact along", async () => {
    const { memory } = await start();
    const old = await memory.add({ text: "I live in Bonn", at: 1 });
    const now = await memory.add({ text: "I live in Rome", at: 2 });
    expect(await memory.forget(now.id)).toEqual([now.id, old.id]);
    expect(await memory.list({ superseded: true })).toEqual([]);
  });

  it("is not done for a viewer who cannot see it", async () => {
    const { memory } = await start();
    const { id } = await memory.add({ text: "The safe is behind the picture", scope: SHARED });
    expect(await memory.forget(id, { person: "stranger" })).toEqual([]);
    expect(await memory.get(id)).toBeDefined();
  });

  it("happens by itself when a memory expires", async () => {
    const clock = new ManualClock();
    const { memory } = await start({ clock });
    await memory.add({ text: "The parcel is at the neighbour's", expiresAt: clock.now() + 1000 });
    clock.advance(2000);
    expect(await memory.search({ query: "parcel" })).toEqual([]);
    expect(await memory.expire()).toBe(1);
    expect(await memory.list()).toEqual([]);
  });
});

describe("text from outside", () => {
  it("waits for a person: it is not found before, and found after a yes (I12)", async () => {
    const { memory } = await start();
    const { id, state } = await memory.add({ text: "The bank's new account is 999", trust: "outside" });
    expect(state).toBe("pending");
    expect(await memory.search({ query: "bank account" })).toEqual([]);
    expect((await memory.pending()).map((row) => row.id)).toEqual([id]);
    expect(await memory.decide(id, true)).toBe(true);
    expect(texts(await memory.search({ query: "bank account" }))).toEqual(["The bank's new account is 999"]);
    expect(await memory.decide(id, true)).toBe(false);
  });

  it("is deleted by a no, and supersedes nothing while it waits", async () => {
    const { memory, records } = await start();
    await memory.add({ text: "I live in Rome" });
    const { id } = await memory.add({ text: "I live in Atlantis", trust: "outside" });
    expect(texts(await memory.search({ query: "where do I live" }))).toEqual(["I live in Rome"]);
    await memory.decide(id, false);
    expect(await memory.pending()).toEqual([]);
    await agree(records);
  });
});

describe("scopes", () => {
  async function household(): Promise<Memory> {
    const { memory } = await start();
    await memory.add({ text: "The owner's alarm code is 4711", scope: SHARED });
    await memory.add({ text: "The owner's alarm code hint for kim is a river", agent: "kim" });
    await memory.add({ text: "The team's alarm drill is on Monday", scope: teamScope("ops") });
    await memory.add({ text: "Stan set off the alarm on the web chat", person: "stan" });
    await memory.add({ text: "Eve asked about the alarm by mail", person: "eve" });
    return memory;
  }

  it("a stranger's session never sees the owner's facts, whatever agent, team or scope it names (MEMORY-1)", async () => {
    const memory = await household();
    const attempts = [
      { person: "stan" },
      { person: "stan", agent: "kim" },
      { person: "stan", teams: ["ops"] },
      { person: "stan", scope: SHARED },
      { person: "stan", scope: [SHARED, agentScope("kim"), teamScope("ops"), personScope("eve")] },
    ];
    for (const viewer of attempts) {
      const found = await memory.search({ query: "alarm code owner team", ...viewer });
      for (const text of texts(found)) expect(text).toContain("Stan");
      for (const text of texts(await memory.list(viewer))) expect(text).toContain("Stan");
    }
  });

  it("a person's memories follow the person over channels", async () => {
    const memory = await household();
    expect(texts(await memory.search({ query: "alarm", person: "stan", agent: "kim" }))).toEqual([
      "Stan set off the alarm on the web chat",
    ]);
    expect(texts(await memory.search({ query: "alarm", person: "stan", agent: "lee" }))).toEqual([
      "Stan set off the alarm on the web chat",
    ]);
  });

  it("an agent in the owner's session sees what is shared, its own and its team's, not another agent's", async () => {
    const memory = await household();
    const found = (agent: string, teams: string[]) =>
      memory.search({ query: "alarm", person: "owner", owner: true, agent, teams }).then(texts);
    expect((await found("kim", ["ops"])).sort()).toEqual([
      "The owner's alarm code hint for kim is a river",
      "The owner's alarm code is 4711",
      "The team's alarm drill is on Monday",
    ]);
    expect(await found("lee", [])).toEqual(["The owner's alarm code is 4711"]);
  });

  it("the vector path keeps to the scopes too", async () => {
    const { memory } = await start({ embedder: letters() });
    await memory.add({ text: "qqqq zzzz the owner", scope: SHARED });
    await memory.add({ text: "aaaa bbbb a stranger", person: "stan" });
    memory.start();
    await memory.settled();
    expect(texts(await memory.search({ query: "zzzzqqqq", person: "stan" }))).toEqual(["aaaa bbbb a stranger"]);
  });
});

describe("searching", () => {
  it("finds by any word of the question, in any form, and not only when all occur", async () => {
    const { memory } = await start();
    await memory.add({ text: "Ann: We went to the mountains and swam in a lake", source: "s", scope: "c" });
    await memory.add({ text: "Ben: My car needs new tyres", source: "s2", scope: "c" });
    for (const query of ["Did she go swimming?", "lakes", "Which mountain did they visit in the summer of love?"]) {
      expect(texts(await memory.search({ query, scope: "c" }))[0], query).toContain("mountains");
    }
  });

  it("finds the answer through the question that was asked before it", async () => {
    const { memory } = await start();
    for (let n = 0; n < 30; n++)
      await memory.add({ text: `Ann: chatter number ${n} about this and that`, source: "a", scope: "c" });
    await memory.add({ text: "Ben: What did the optician say about your eyesight?", source: "b", scope: "c" });
    await memory.add({ text: "Ann: All fine, just a stronger pair in autumn", source: "b", scope: "c" });
    const found = texts(await memory.search({ query: "optician eyesight result of Ann", scope: "c", limit: 3 }));
    expect(found).toContain("Ann: All fine, just a stronger pair in autumn");
  });

  it("tells conversations apart that number their messages alike, in one scope", async () => {
    const { memory } = await start();
    const add = (text: string, n: number, at: number) => memory.add({ text, source: `line ${n}`, scope: "c", at });
    for (const [n, text] of ["Ann: Morning!", "Ben: Rain again", "Ann: So wet"].entries()) await add(text, n + 1, 0);
    for (let n = 4; n < 30; n++) await add(`Ben: chatter number ${n}`, n, 0);
    const later = 90 * 86_400_000;
    for (const [n, text] of [
      "Cleo: What did the optician say?",
      "Dan: All fine, a stronger pair",
      "Cleo: Good",
    ].entries())
      await add(text, n + 1, later);
    const found = texts(await memory.search({ query: "optician", scope: "c" }));
    expect(found.slice(0, 3).sort()).toEqual([
      "Cleo: Good",
      "Cleo: What did the optician say?",
      "Dan: All fine, a stronger pair",
    ]);
    expect(found).not.toContain("Ben: Rain again");
  });

  it("does not take messages of different sittings or talks for neighbours (MEMORY-4)", async () => {
    const { memory } = await start();
    await memory.add({ text: "Ben: The optician was nice", source: "b", scope: "c", at: 0 });
    await memory.add({ text: "Ann: Purple curtains arrived", source: "b", scope: "c", at: 9 * 3_600_000 });
    expect(texts(await memory.search({ query: "optician", scope: "c" }))).toEqual(["Ben: The optician was nice"]);
  });

  it("prefers a message that says when to one that does not, when asked when", async () => {
    const { memory } = await start();
    await memory.add({ text: "Ann: The concert was wonderful, thank you", source: "a", scope: "c" });
    await memory.add({ text: "Ann: The concert was last Friday", source: "b", scope: "c" });
    await memory.add({ text: "Ann: The concert had two encores, can you imagine", source: "d", scope: "c" });
    expect(texts(await memory.search({ query: "When was the concert?", scope: "c" }))[0]).toContain("last Friday");
  });

  it("prefers the words of the person the question names", async () => {
    const { memory } = await start();
    await memory.add({ text: "Ann: I bought a kayak at the market", source: "a", scope: "c" });
    await memory.add({ text: "Ben: I bought a kayak at the market", source: "b", scope: "c" });
    for (const name of ["Ann", "Ben"]) {
      const [first] = await memory.search({ query: `What did ${name} buy?`, scope: "c" });
      expect(first!.text).toMatch(new RegExp(`^${name}:`));
    }
  });

  it("knows the days a question names", async () => {
    const { memory } = await start();
    for (const month of [3, 6, 9]) {
      const at = Date.UTC(2023, month, 10);
      await memory.add({ text: `Ann: We painted a wall again (${month})`, source: `s${month}`, scope: "c", at });
    }
    expect(texts(await memory.search({ query: "What did Ann paint in July 2023?", scope: "c" }))[0]).toContain("(6)");
  });

  it.each([
    ["我昨天在东京买了一台相机", "东京", "相机"],
    ["昨日は京都で紅葉を見ました", "京都", "紅葉"],
    ["어제 서울에서 김치를 먹었습니다", "서울", "김치"],
  ])("finds in scripts without spaces: %s", async (text, ...queries) => {
    const { memory } = await start();
    await memory.add({ text: "Ann: something else entirely" });
    await memory.add({ text });
    for (const query of queries) expect(texts(await memory.search({ query }))[0]).toBe(text);
  });

  it("follows the relation: what am I working on?", async () => {
    const { memory } = await start();
    await memory.add({ text: "I am working on the lighthouse novel", kind: "project" });
    for (let n = 0; n < 12; n++) await memory.add({ text: `Note ${n}: the work week on the coast was long` });
    expect(texts(await memory.search({ query: "What am I working on?" }))[0]).toBe(
      "I am working on the lighthouse novel",
    );
    const graph = await memory.graph();
    expect(graph.relations).toContainEqual({ subject: "self", relation: "works on", object: "the lighthouse novel" });
    await memory.add({ text: "Ana lives in Lisbon now" });
    const { relations, entities } = await memory.graph();
    expect(relations).toContainEqual({ subject: "ana", relation: "lives in", object: "lisbon" });
    expect(entities.map(({ name }) => name)).toEqual(expect.arrayContaining(["Ana", "Lisbon"]));
  });

  it("a word that may be a name counts with all its mentions once it is sure to be one, in either order (GRAPH-1)", async () => {
    const { memory } = await start();
    const mentions = async () =>
      Object.fromEntries((await memory.graph()).entities.map((one) => [one.name, one.mentions] as const));
    await memory.add({ text: "Bob called about the roof" });
    await memory.add({ text: "schmidt likes green tea" });
    await memory.add({ text: "Dinner is at eight" });
    expect(await mentions()).toEqual({});
    await memory.add({ text: "I met Bob at the station" });
    await memory.add({ text: "The keys are with Schmidt" });
    await memory.add({ text: "Bob paints" });
    expect(await mentions()).toEqual({ Bob: 3, Schmidt: 2 });
    for (const query of ["what does schmidt like?", "What does Schmidt like?"])
      expect(texts(await memory.search({ query }))[0]).toBe("schmidt likes green tea");
  });

  it("people with the same surname are two, and are found by their whole name or a part of it", async () => {
    const { memory } = await start();
    await memory.add({ text: "Joe Smith lives in Oslo" });
    await memory.add({ text: "Ann Smith lives in Rome in summer" });
    for (let n = 0; n < 12; n++) await memory.add({ text: `the living is easy where ${n} fish jump` });
    const { relations, entities } = await memory.graph();
    expect(entities.map(({ name }) => name).sort()).toEqual(["Ann Smith", "Joe Smith", "Oslo", "Rome"]);
    expect(relations).toContainEqual({ subject: "ann smith", relation: "lives in", object: "rome" });
    await memory.add({ text: "Ann Smith works at Nokia" });
    await memory.add({ text: "Joe Smith works at IKEA" });
    const work = (await memory.graph()).relations.filter(({ relation }) => relation === "works at");
    expect(work.map(({ subject, object }) => `${subject}: ${object}`).sort()).toEqual([
      "ann smith: nokia",
      "joe smith: ikea",
    ]);
    const top = async (query: string) => texts(await memory.search({ query }));
    for (const query of ["Where does Joe Smith live?", "Where does Joe live?", "where does joe live?"])
      expect((await top(query))[0]).toBe("Joe Smith lives in Oslo");
    expect((await top("Where does Smith live?")).slice(0, 2).sort()).toEqual([
      "Ann Smith lives in Rome in summer",
      "Joe Smith lives in Oslo",
    ]);
  });

  it("weighs what was of use a little more", async () => {
    const { memory } = await start();
    const older = await memory.add({ text: "The plumber is Brook", at: 5 });
    const newer = await memory.add({ text: "The plumber is Smith", at: 5 });
    expect((await memory.search({ query: "plumber" }))[0]!.id).toBe(newer.id);
    for (let n = 0; n < 20; n++) await memory.used([older.id]);
    expect((await memory.search({ query: "plumber" }))[0]!.id).toBe(older.id);
  });

  it.each(["", "   ", "the of and", '"quotes" AND (brackets) OR *', "a:b NEAR/2 ^c", "\u{e000}abc", "🙂"])(
    "survives the question %j",
    async (query) => {
      const { memory } = await start();
      await memory.add({ text: "Ann: quotes and brackets", scope: "c" });
      expect(Array.isArray(await memory.search({ query, scope: "c" }))).toBe(true);
    },
  );

  it("finds the same after a restart", async () => {
    const first = await openMemory();
    for (let n = 0; n < 20; n++)
      await first.memory.add({ text: `Ann: item ${n} is on shelf ${n * 7}`, source: "s", scope: "c" });
    const before = await first.memory.search({ query: "which shelf has item 13", scope: "c" });
    await first.close();
    const second = await start({ dir: first.dir });
    const after = await second.memory.search({ query: "which shelf has item 13", scope: "c" });
    expect(after.map((hit) => hit.id)).toEqual(before.map((hit) => hit.id));
  });
});

describe("vectors", () => {
  it("find what no word finds", async () => {
    const { memory } = await start({ embedder: letters() });
    await memory.add({ text: "zzzzzz qqqqqq" });
    await memory.add({ text: "aaaaaa bbbbbb" });
    memory.start();
    await memory.settled();
    expect(texts(await memory.search({ query: "zqzqzq" }))[0]).toBe("zzzzzz qqqqqq");
  });

  it("are not waited for longer than the budget; the search goes on by words (MEMORY-5)", async () => {
    const clock = new ManualClock();
    const silent: Embedder = { ...letters(), id: "letters" };
    const { memory, dir } = await start({ embedder: silent, clock });
    await memory.add({ text: "Ann keeps bees" });
    memory.start();
    await memory.settled();
    const hanging: Embedder = { ...letters(), embed: () => new Promise(() => {}) };
    const again = await start({ dir, embedder: hanging, clock });
    const found = again.memory.search({ query: "bees" });
    // The budget begins when the embedder is asked, some turns of the loop from now.
    const tick = setInterval(() => clock.advance(10), 1);
    expect(texts(await found)).toEqual(["Ann keeps bees"]);
    clearInterval(tick);
  });

  it("that cannot be made are tried again later, and nothing else is disturbed (MEMORY-5)", async () => {
    const clock = new ManualClock();
    let broken = true;
    const flaky: Embedder = {
      ...letters(),
      async embed(texts, signal) {
        if (broken) throw new Error("no memory left");
        return letters().embed(texts, signal);
      },
    };
    const { memory } = await start({ embedder: flaky, clock });
    await memory.add({ text: "Ann keeps bees" });
    await memory.settled();
    expect(await memory.embeddingProgress()).toMatchObject({
      done: 0,
      total: 1,
      state: "waiting",
      error: "no memory left",
    });
    expect(texts(await memory.search({ query: "bees" }))).toEqual(["Ann keeps bees"]);
    broken = false;
    clock.advance(60_000);
    await memory.settled();
    expect(await memory.embeddingProgress()).toMatchObject({ done: 1, total: 1, state: "idle" });
  });

  it("are all made again for another model, and never compared across models", async () => {
    const first = await openMemory({ embedder: letters("one") });
    for (let n = 0; n < 40; n++) await first.memory.add({ text: `fact number ${n} is about ${"abcdefgh"[n % 8]}` });
    first.memory.start();
    await first.memory.settled();
    await first.close();
    const second = await start({ dir: first.dir, embedder: letters("two") });
    expect(await second.memory.embeddingProgress()).toMatchObject({ model: "two", done: 0, total: 40 });
    second.memory.start();
    await second.memory.settled();
    expect(await second.memory.embeddingProgress()).toMatchObject({ done: 40, total: 40, state: "idle" });
    expect(await second.records.all("SELECT DISTINCT model FROM memory_vector")).toEqual([{ model: "two" }]);
    await agree(second.records);
  });

  it("are not made for what was forgotten while it was being embedded (MEMORY-3)", async () => {
    let release: (() => void) | undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow: Embedder = {
      ...letters(),
      async embed(texts, signal) {
        await held;
        return letters().embed(texts, signal);
      },
    };
    const { memory, records } = await start({ embedder: slow });
    const { id } = await memory.add({ text: "Ann keeps bees" });
    await memory.forget(id);
    release!();
    await memory.settled();
    expect(await records.all("SELECT seq FROM memory_vector")).toEqual([]);
  });
});

describe("another embedder while it runs (MEMORY-8)", () => {
  /** Counts in `asked` which model was asked for a question; holds back as long as `held` says. */
  const watched = (id: string, how: { held?: Promise<void>; broken?: () => boolean } = {}) => {
    const asked: string[] = [];
    const embedder: Embedder = {
      ...letters(id),
      async embed(all, signal) {
        asked.push(...all);
        if (how.broken?.()) throw new Error("it does not answer");
        if (how.held) {
          const aborted = new Promise<never>((_, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason), { once: true });
          });
          await Promise.race([how.held, aborted]);
        }
        return letters(id).embed(all, signal);
      },
    };
    return { embedder, asked };
  };
  const filled = async () => {
    const old = watched("old");
    const opened = await start({ embedder: old.embedder });
    for (let n = 0; n < 40; n++) await opened.memory.add({ text: `Ann keeps ${n} bees` });
    await opened.memory.settled();
    return { ...opened, old };
  };
  const models = (records: Opened["records"]) =>
    records.all("SELECT model, COUNT(*) AS n FROM memory_vector GROUP BY model ORDER BY model");

  it("the old one answers until the new one has everything, then only the new one's vectors are left", async () => {
    const { memory, records, old } = await filled();
    let release!: () => void;
    const next = watched("new", {
      held: new Promise((resolve) => {
        release = resolve;
      }),
    });
    await memory.useEmbedder(next.embedder);
    await memory.search({ query: "bees?" });
    expect(old.asked).toContain("bees?");
    expect(next.asked).not.toContain("bees?");
    expect(await memory.embeddingProgress()).toMatchObject({
      ...{ model: "old", done: 40, total: 40 },
      next: { model: "new", done: 0, total: 40, state: "working" },
    });
    await memory.add({ text: "Ben keeps wasps" });
    release();
    await memory.settled();
    expect(await memory.embeddingProgress()).toEqual({ model: "new", done: 41, total: 41, state: "idle" });
    expect(await models(records)).toEqual([{ model: "new", n: 41 }]);
    await memory.search({ query: "bees?" });
    expect(next.asked).toContain("bees?");
    await agree(records);
  });

  it("one that cannot be reached leaves the old in place, says why, and takes over when it answers", async () => {
    const clock = new ManualClock();
    const { memory, records } = await start({ embedder: letters("old"), clock });
    await memory.add({ text: "Ann keeps bees" });
    await memory.settled();
    let broken = true;
    const next = watched("new", { broken: () => broken });
    await memory.useEmbedder(next.embedder);
    await memory.settled();
    expect(await memory.embeddingProgress()).toMatchObject({
      ...{ model: "old", done: 1, state: "idle" },
      next: { model: "new", done: 0, state: "waiting", error: "it does not answer" },
    });
    expect(texts(await memory.search({ query: "bees?" }))).toEqual(["Ann keeps bees"]);
    broken = false;
    clock.advance(60_000);
    await memory.settled();
    expect(await memory.embeddingProgress()).toEqual({ model: "new", done: 1, total: 1, state: "idle" });
    expect(await models(records)).toEqual([{ model: "new", n: 1 }]);
  });

  it("going back half way leaves the old one as it was; off and on again makes nothing twice", async () => {
    const { memory, records, old } = await filled();
    const made = old.asked.length;
    const next = watched("new", { held: new Promise(() => {}) });
    await memory.useEmbedder(next.embedder);
    await memory.useEmbedder(old.embedder);
    await memory.settled();
    expect(await memory.embeddingProgress()).toEqual({ model: "old", done: 40, total: 40, state: "idle" });
    await memory.useEmbedder(undefined);
    expect(await memory.embeddingProgress()).toBeUndefined();
    expect((await memory.search({ query: "bees?" })).length).toBeGreaterThan(0);
    await memory.useEmbedder(old.embedder);
    await memory.settled();
    expect(old.asked.length).toBe(made);
    expect(await models(records)).toEqual([{ model: "old", n: 40 }]);
  });

  it("after a restart in between the old one answers again, where it can be made", async () => {
    const first = await filled();
    const next = watched("new", { broken: () => true });
    await first.memory.useEmbedder(next.embedder);
    await first.memory.settled();
    await first.close();
    const { memory } = await start({ dir: first.dir, embedder: letters("new"), earlier: (id) => letters(id) });
    memory.start();
    await memory.settled();
    expect(await memory.embeddingProgress()).toEqual({ model: "new", done: 40, total: 40, state: "idle" });
  });
});

describe("export and import", () => {
  it("carry everything over in order, once", async () => {
    const from = await start();
    await from.memory.add({ text: "Ann: one", source: "s", at: 5, scope: "c" });
    await from.memory.add({ text: "I live in Bonn", at: 1 });
    await from.memory.add({ text: "I live in Rome", at: 2 });
    await from.memory.add({ text: "Buy gold now", trust: "outside" });
    const to = await start();
    expect(await to.memory.import(from.memory.export())).toEqual({ added: 4, known: 0 });
    expect(await to.memory.import(from.memory.export())).toEqual({ added: 0, known: 4 });
    const dump = async (memory: Memory) => {
      const rows = [];
      for await (const row of memory.export()) rows.push(row);
      return rows;
    };
    expect(await dump(to.memory)).toEqual(await dump(from.memory));
    expect(texts(await to.memory.search({ query: "where do I live" }))).toEqual(["I live in Rome"]);
    await agree(to.records);
  });
});

async function expectGoneFromIndexBytes(dir: string, word: string): Promise<void> {
  const again = await openMemory({ dir });
  const blocks = await again.records.all<{ block: Uint8Array }>("SELECT block FROM memory_fts_data");
  const bytes = Buffer.concat(blocks.map((row) => Buffer.from(row.block)));
  expect(bytes.includes(word)).toBe(false);
  await again.close();
}
