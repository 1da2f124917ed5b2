/** Memory in the real program: who sees what, files and facts in step, folders, deletion. One process for the file. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Lares, requestsWith, sendHook, startFarSide, startLares, startModel, until } from "../support/index.ts";
import { makePdf } from "../support/pdf.ts";
import { scratch } from "../support/scratch.ts";

let model: Awaited<ReturnType<typeof startModel>>;
let far: Awaited<ReturnType<typeof startFarSide>>;
let lares: Lares;
beforeAll(async () => {
  [model, far] = await Promise.all([startModel(), startFarSide()]);
  lares = await startLares({
    env: model.env,
    config: {
      policy: { mode: "record" },
      agents: { cook: {}, guard: {} },
      memory: {
        embedder: { use: "off" },
        teams: { kitchen: ["main", "cook"] },
        capture: { use: "model", everyMessages: 2, idleSeconds: 3600 },
      },
      routing: { rules: [{ account: "hall", agent: "main", scope: "main" }] },
      channels: { webhook: { door: { secret: far.secret, url: far.url }, hall: { secret: far.secret, url: far.url } } },
    },
  });
});
afterAll(async () => {
  await lares?.dispose();
  await Promise.all([model?.close(), far?.close()]);
});

const file = (name: string, agent = "main") => join(lares.home, "agents", agent, name);
const read = (name: string, agent = "main") => readFileSync(file(name, agent), "utf8");
const search = (query: string) => `tool:memory_search ${JSON.stringify({ query })} then: say:found {results}`;
const facts = async () => (await lares.rpc("memory.list", { limit: 1000 })).facts;
const factLike = async (text: string) => (await facts()).filter((fact) => fact.text.includes(text));

describe("who sees what", () => {
  test("a team's facts are its members', a person's are theirs, a stranger sees neither the owner's facts nor files", async () => {
    await lares.rpc("memory.add", { text: "The pantry code is walnut", scope: "team:kitchen" });
    await lares.rpc("memory.add", { text: "The pantry of the owner is locked", scope: "shared" });
    await lares.rpc("memory.add", { text: "The pantry keeper of main is Otto", scope: "agent:main" });
    const seen = async (user: string, agent: string) =>
      (await lares.chat(user, search("pantry"), { agent, key: `${user}-${agent}` })).response;
    expect(await seen("owner", "cook")).toMatch(/walnut[\s\S]*locked|locked[\s\S]*walnut/);
    expect(await seen("owner", "cook")).not.toContain("Otto");
    const guard = await seen("owner", "guard");
    expect(guard).toContain("locked");
    expect(guard).not.toContain("walnut");
    // Somebody the owner's token speaks for by name keeps facts of their own.
    await lares.chat("ana", 'tool:memory_save {"text":"Ana likes pantry mice"} then: say:ok');
    expect((await factLike("pantry mice"))[0]).toMatchObject({ scope: "person:http:ana" });
    expect(await seen("ana", "main")).toContain("mice");
    expect(await seen("bob", "main")).not.toContain("mice");

    await until("the file to follow", () => read("MEMORY.md").includes("Otto"));
    await lares.chat("owner", "say:mine", { session: "agent:main:mine" });
    await sendHook(lares, "door", far.secret, { id: "h1", chat: "zed", text: `as zed ${search("pantry")}` });
    await until("the stranger's answer", () => far.shown.some((m) => m.text.startsWith("found")));
    expect(far.shown.map((m) => m.text).join()).not.toMatch(/walnut|locked|Otto|mice/);
    // Both prompts are the same agent's: the owner's has the file, the stranger's has not.
    expect(requestsWith(model, "say:mine")[0]!.system).toContain("Otto");
    expect(requestsWith(model, "as zed")[0]!.system).not.toMatch(/walnut|locked|Otto|mice/);
  });

  test("somebody who comes into the owner's session is told nothing of what it was told before", async () => {
    await lares.rpc("memory.add", { text: "The cellar of the owner is flooded", scope: "shared" });
    await until("the file to follow", () => read("MEMORY.md").includes("flooded"));
    await lares.chat("owner", "say:first-in-the-hall", { session: "agent:main:main" });
    await sendHook(lares, "hall", far.secret, { id: "h2", chat: "yan", text: "say:second-in-the-hall" });
    await until("the answer", () => far.shown.some((m) => m.text === "second-in-the-hall"));
    expect(JSON.stringify(requestsWith(model, "first-in-the-hall")[0]!.body)).toContain("flooded");
    expect(JSON.stringify(requestsWith(model, "second-in-the-hall")[0]!.body)).not.toContain("flooded");
  });
});

describe("files and facts", () => {
  test("a fact shows in the file; a line by hand is a fact, a changed one a correction, a deleted one is forgotten", async () => {
    const { id } = await lares.rpc("memory.add", { text: "The attic ladder is at the back" });
    await until("the file to follow", () => read("MEMORY.md").includes("attic ladder"));
    const mine = `${read("MEMORY.md").trimEnd()}\n- The bins go out on Tuesday\n\nSome prose of mine.\n`;
    writeFileSync(file("MEMORY.md"), mine.replace("at the back", "in the shed"));
    await until("the edit to count", async () => (await factLike("bins go out")).length === 1);
    expect(await factLike("attic ladder")).toMatchObject([{ text: "The attic ladder is in the shed" }]);
    expect((await lares.rpc("memory.list", { superseded: true })).facts.find((f) => f.id === id)?.state).toBe(
      "superseded",
    );
    expect(read("MEMORY.md")).toContain("Some prose of mine.");
    const [ladder] = await factLike("attic ladder");
    expect((await lares.rpc("memory.undo", { id: ladder!.id })).restored).toMatchObject([{ id }]);
    await until("the file to follow", () => read("MEMORY.md").includes("at the back"));
    writeFileSync(file("MEMORY.md"), read("MEMORY.md").replace("- The bins go out on Tuesday\n", ""));
    await until("the line to be forgotten", async () => (await factLike("bins go out")).length === 0);
  });
});

describe("capture", () => {
  test("facts of a conversation are kept, bounded and paid for; with text from outside they wait (MEMORY-10)", async () => {
    const said = 'say:[{"text":"Mia is allergic to sesame","kind":"person"}]';
    for (const n of [1, 2]) await lares.chat("owner", `${n} ${said}`, { session: "agent:main:capture" });
    const kept = await until("the fact", async () => (await factLike("sesame"))[0]);
    expect(kept).toMatchObject({
      kind: "person",
      trust: "agent",
      scope: "agent:main",
      source: "session:agent:main:capture",
    });
    await until("today's note", () => {
      const notes = existsSync(file("memory"))
        ? readdirSync(file("memory")).filter((name) => name.endsWith(".md"))
        : [];
      return notes.length === 1 && read(`memory/${notes[0]}`).includes("sesame");
    });
    const looks = requestsWith(model, "sesame").filter((r) => r.system.includes("You keep the long-term memory"));
    expect(looks).toHaveLength(1);

    // A page was read on the way: what is found waits for a person.
    writeFileSync(join(lares.workspace(), "page.txt"), "somebody else's words");
    const session = "agent:main:outside";
    const outside = 'say:[{"text":"Mia owns a submarine","kind":"fact"}]';
    await lares.chat("owner", `${outside} tool:read {"path":"page.txt"} then: say:read`, { session });
    await lares.chat("owner", "thanks", { session });
    const waiting = await until("the doubtful fact to wait", async () =>
      (await lares.rpc("memory.pending", {})).facts.find((fact) => fact.text.includes("submarine")),
    );
    expect(waiting).toMatchObject({ trust: "outside", state: "pending" });
    expect(await factLike("submarine")).toEqual([]);
    expect(await lares.rpc("memory.decide", { id: waiting!.id, keep: false })).toEqual({ decided: true });
    expect((await lares.rpc("memory.pending", {})).facts.filter((f) => f.text.includes("submarine"))).toEqual([]);
  });
});

describe("folders", () => {
  test("are searched with file and place, followed, and taken out again", async () => {
    const dir = scratch("docs");
    mkdirSync(join(dir, "sub"));
    writeFileSync(join(dir, "sub", "house.md"), "# Boiler\n\nServiced by Brook & Sons every October.\n");
    writeFileSync(join(dir, "lease.pdf"), makePdf("The lease of the lighthouse ends in May"));
    expect(await lares.rpc("memory.index", { dir })).toMatchObject({ added: 2, skipped: [] });
    const find = async (query: string) => (await lares.rpc("memory.search", { query })).results;
    expect((await find("when is the boiler serviced"))[0]).toMatchObject({ kind: "document", place: "lines 1-3" });
    expect((await find("lighthouse lease"))[0]).toMatchObject({
      source: join(dir, "lease.pdf"),
      place: expect.stringMatching(/^page 1/),
    });
    // The same reader serves the agent.
    writeFileSync(join(lares.workspace(), "lease.pdf"), makePdf("The lease of the lighthouse ends in May"));
    const { response } = await lares.chat("owner", 'tool:read {"path":"lease.pdf"} then: say:it says {results}');
    expect(response).toMatch(/\[Page 1\]\s+The lease of the lighthouse ends in May/);
    writeFileSync(join(dir, "ferry.txt"), "The ferry to Texel leaves hourly.");
    await until("the new file", async () => (await find("ferry Texel"))[0]?.source === join(dir, "ferry.txt"));
    expect((await lares.rpc("memory.status", {})).folders).toMatchObject([{ dir, files: 3 }]);
    expect(await lares.rpc("memory.unindex", { dir })).toEqual({ removed: true });
    expect((await find("ferry Texel")).filter((hit) => hit.kind === "document")).toEqual([]);
  });
});

describe("forgetting", () => {
  test("leaves nothing in the database's file, its log, the memory files, exports and prompts", async () => {
    const secret = "Zanzibarquartz";
    const { id } = await lares.rpc("memory.add", { text: `The vault word is ${secret}` });
    await until("the file to follow", () => read("MEMORY.md").includes(secret));
    await lares.chat("owner", "say:hello", { session: "agent:main:vault" });
    await lares.rpc("memory.forget", { id });
    const exported = JSON.stringify(await lares.rpc("memory.export", { limit: 1000 }));
    expect(exported).not.toContain(secret);
    expect(read("MEMORY.md")).not.toContain(secret);
    // The turn's own journal keeps what was sent to the model; that is history, not memory.
    await lares.rpc("sessions.delete", { session: "agent:main:vault" });
    expect(
      (await lares.rpc("memory.search", { query: secret })).results.filter((r) => r.text.includes(secret)),
    ).toEqual([]);
    await lares.rpc("memory.forget", { id: (await lares.rpc("memory.add", { text: "a last purge" })).id });
    for (const name of readdirSync(lares.home).filter((n) => n.startsWith("lares.db") && !n.endsWith("-shm"))) {
      const bytes = readFileSync(join(lares.home, name)).toString("latin1").toLowerCase();
      expect(bytes.includes(secret.toLowerCase()), name).toBe(false);
    }
  });
});

describe("forgetting a person", () => {
  test("shows first what goes, then takes facts, past talk, prompts and notes", async () => {
    await lares.rpc("memory.add", { text: "Quentin keeps bees behind the mill", scope: "shared" });
    await lares.rpc("memory.add", { text: "The mill was built in 1820", scope: "shared" });
    await lares.chat("owner", "say:Quentin called about the honey", { session: "agent:main:bees" });
    const found = async () =>
      (await lares.rpc("memory.search", { query: "Quentin", in: ["memory", "sessions"] })).results;
    await until("the talk to be indexed", async () => (await found()).some((hit) => hit.text.includes("honey")));
    await until("the file to follow", () => read("MEMORY.md").includes("Quentin"));
    const preview = await lares.rpc("memory.forget", { about: "Quentin", preview: true });
    expect(preview).toMatchObject({ forgotten: false, facts: [{ text: "Quentin keeps bees behind the mill" }] });
    expect(preview.said!.length).toBeGreaterThan(0);
    expect(await found()).not.toEqual([]);
    expect(await lares.rpc("memory.forget", { about: "Quentin" })).toMatchObject({ forgotten: true });
    expect((await found()).filter((hit) => hit.text.includes("Quentin"))).toEqual([]);
    expect(await factLike("built in 1820")).toHaveLength(1);
    await until("the notes to follow", () => !read("MEMORY.md").includes("Quentin"));
    const { entities } = await lares.rpc("memory.graph", {});
    expect(entities.map(({ name }) => name)).not.toContain("Quentin");
  });

  test("months, weekdays and labels are no entities", async () => {
    await lares.rpc("memory.add", {
      text: "Name: Ana Weber comes in March and again on Sunday with Otto",
      scope: "shared",
    });
    const { entities } = await lares.rpc("memory.graph", {});
    const names = entities.map(({ name }) => name);
    expect(names).toContain("Otto");
    for (const no of ["March", "Sunday", "Name"]) expect(names).not.toContain(no);
  });
});

test("hello stays small with a hundred facts", async () => {
  for (let n = 0; n < 100; n++)
    await lares.rpc("memory.add", {
      text: `The drawer ${n} of the long cabinet holds ${n} silver spoons`,
    });
  await until("the file to follow", () => read("MEMORY.md").includes("silver spoons"));
  const before = model.requests.length;
  await lares.chat("owner", "hello", { session: "agent:main:small" });
  const request = model.requests.slice(before).find((r) => !r.system.includes("long-term memory"))!;
  expect(request.system).toContain("silver spoons");
  // Four letters a token, as the bar is measured.
  expect(request.bytes / 4).toBeLessThan(4300);
});
