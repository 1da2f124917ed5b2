/** What "forget" means for conversations: no model reads it again, and the transcript says so. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Lares, PROGRAM, startLares, startModel } from "../support/index.ts";

const MEMORY = { embedder: { use: "off" }, capture: { use: "off" } };

let model: Awaited<ReturnType<typeof startModel>>;
let lares: Lares;
beforeAll(async () => {
  model = await startModel();
  lares = await startLares({ env: model.env, config: { policy: { mode: "record" }, memory: MEMORY } });
});
afterAll(async () => {
  await lares?.dispose();
  await model?.close();
});

async function cli(...args: string[]): Promise<string> {
  const env = { PATH: process.env.PATH ?? "", HOME: lares.home, LARES_TOKEN: lares.token, LARES_COMMAND: "lares" };
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...args, "--home", lares.home], { env });
  return stdout;
}

/** What the model is sent next in a conversation, whole. */
async function nextRequest(session: string): Promise<string> {
  model.reset();
  await lares.chat("owner", "say:next", { session });
  return JSON.stringify(model.requests.at(-1));
}

const saved = (text: string) => `tool:memory_save ${JSON.stringify({ text })} then: say:saved`;

test("forgetting a topic takes it out of what the model reads in every open conversation, also after a restart (CONTEXT-21)", async () => {
  const [a, b] = ["agent:main:garden", "agent:main:kitchen"];
  await lares.chat("owner", "I told you about Wilhelmina and her zeppelin", { session: a });
  await lares.chat("owner", "and I like tea", { session: a });
  await lares.chat("owner", saved("Wilhelmina flies a zeppelin"), { session: b });
  await lares.chat("owner", `tool:memory_search {"query":"zeppelin"} then: say:ok`, { session: b });
  expect(await nextRequest(a)).toContain("zeppelin");
  expect(await nextRequest(b)).toContain("zeppelin");

  const said = await cli("memory", "forget", "--about", "Zeppelins", "--yes");
  expect(said).toContain("No model reads those messages again; their text stays in the conversation");
  for (const session of [a, b]) {
    const request = await nextRequest(session);
    expect(request).not.toMatch(/zeppelin/i);
    expect(request).toContain("Forgotten at the person's request");
  }
  expect(await nextRequest(a)).toContain("and I like tea");
  await lares.restart();
  expect(await nextRequest(a)).not.toMatch(/zeppelin/i);

  const { messages } = await lares.rpc("chat.history", { session: a, limit: 100 });
  expect(messages.filter((m) => m.forgotten).map((m) => JSON.stringify(m.content))).toEqual(
    expect.arrayContaining([expect.stringContaining("her zeppelin")]),
  );
  expect(await cli("sessions", "get", a, "--limit", "50")).toContain("(forgotten: models don't read this)");
});

test("the agent that is asked to forget still reads the request in that turn, says what stays, and not the next time", async () => {
  const session = "agent:main:cellar";
  await lares.chat("owner", saved("Ottokar hides the cellar key"), { session });
  model.reset();
  const answer = await lares.chat(
    "owner",
    `tool:tool_run {"name":"memory_forget","input":{"about":"Ottokar"}} then: say:{results}`,
    { session },
  );
  expect(answer.response).toContain("You no longer read the messages and tool results that mention it");
  expect(JSON.stringify(model.requests.at(-1))).toContain("Ottokar");
  expect(JSON.stringify(model.requests.at(-1))).not.toContain("cellar key");
  expect(await nextRequest(session)).not.toContain("Ottokar");
});

test("one forgotten fact is no longer quoted by calls and results", async () => {
  const session = "agent:main:attic";
  await lares.chat("owner", saved("The attic holds 40 lamps"), { session });
  await lares.chat("owner", "lamps are nice", { session });
  const [fact] = (await lares.rpc("memory.list", { limit: 1000 })).facts.filter((one) => one.text.includes("attic"));
  await lares.rpc("memory.forget", { id: fact!.id });
  const request = await nextRequest(session);
  expect(request).not.toContain("40 lamps");
  expect(request).toContain("lamps are nice");
});

test("what another person had forgotten stays in the owner's conversation", async () => {
  const session = "agent:main:pier";
  await lares.chat("owner", "The pier of Quendolin is closed", { session });
  await lares.chat("guest", `tool:tool_run {"name":"memory_forget","input":{"about":"Quendolin"}} then: say:ok`, {
    session: "agent:main:http:other",
  });
  expect(await nextRequest(session)).toContain("Quendolin");
});

test("a compacted conversation carries it no longer", async () => {
  const session = "agent:main:long";
  await lares.chat("owner", `My boat is called Seraphine. ${"It was built by hand. ".repeat(200)}`, { session });
  for (const text of ["two", "three", "four", "five"]) await lares.chat("owner", `say:${text}`, { session });
  await lares.rpc("context.compact", { session });
  expect((await lares.rpc("context.get", { session })).notes.carried).toContain("Seraphine");
  await lares.rpc("memory.forget", { about: "Seraphine" });
  expect(await nextRequest(session)).not.toContain("Seraphine");
});

test("a question of the memory tools that waits is withdrawn, and no longer shows it", async () => {
  const at = await startLares({
    env: model.env,
    config: { gateway: { http: { wait: 0.05 } }, memory: MEMORY },
  });
  try {
    const { id } = await at.rpc("memory.add", { text: "Balthasar owns a harp" });
    const parked = await at.chat(
      "owner",
      `tool:tool_run {"name":"memory_forget","input":{"id":"${id}"}} then: say:{results}`,
    );
    expect(parked.approval?.shown).toContain("Balthasar owns a harp");
    expect(parked.approval?.tool).toBe("memory_forget");
    await at.rpc("memory.forget", { about: "Balthasar" });
    expect((await at.rpc("approvals.list", { state: "pending" })).approvals).toEqual([]);
    const all = JSON.stringify(await at.rpc("approvals.list", { state: "all" }));
    expect(all).toContain("What this is about was forgotten on request.");
    expect(all).not.toContain("harp");
  } finally {
    await at.dispose();
  }
});

test("a question about several things stays open when only one of them is forgotten", async () => {
  const at = await startLares({ env: model.env, config: { gateway: { http: { wait: 0.05 } }, memory: MEMORY } });
  try {
    const { id } = await at.rpc("memory.add", { text: "Tilda plays the lute" });
    await at.rpc("memory.add", { text: "Tilda lives in Bergen" });
    const parked = await at.chat(
      "owner",
      `tool:tool_run {"name":"memory_forget","input":{"about":"Tilda"}} then: say:{results}`,
    );
    expect(parked.approval?.shown).toContain("- Tilda plays the lute");
    await at.rpc("memory.forget", { id });
    const { approvals } = await at.rpc("approvals.list", { state: "pending" });
    expect(approvals.map((one) => one.id)).toEqual([parked.approval?.id]);
    await at.rpc("memory.forget", { about: "Tilda" });
    expect((await at.rpc("approvals.list", { state: "pending" })).approvals).toEqual([]);
  } finally {
    await at.dispose();
  }
});

test("a search that finds the message beside it does not bring a forgotten one back (CONTEXT-21)", async () => {
  const session = "agent:main:sauna";
  for (const text of ["We rented a sauna in Turku", "Jorma Virta paid the deposit", "the sauna is wooden"])
    await lares.chat("owner", text, { session });
  expect(await cli("memory", "search", "--sessions", "sauna wooden")).toContain("Jorma");
  await cli("memory", "forget", "--about", "jorma virta", "--yes");
  const found = await cli("memory", "search", "--sessions", "sauna wooden");
  expect(found).toContain("the sauna is wooden");
  expect(found).not.toContain("Jorma");
  model.reset();
  await lares.chat("owner", `tool:memory_search {"query":"sauna wooden"} then: say:ok`, { session: "agent:main:new" });
  expect(JSON.stringify(model.requests)).toContain("the sauna is wooden");
  expect(JSON.stringify(model.requests)).not.toContain("Jorma");
});

test.each(["Will Smith", "will smith"])(
  "a name with a common word in it is that person's, not the whole family's: %s",
  async (typed) => {
    const session = `agent:main:smiths-${typed.charAt(0)}`;
    await lares.chat("owner", saved("Jane Smith is my doctor"), { session });
    await lares.chat("owner", saved("Will Smith owes me ten euros"), { session });
    await lares.chat("owner", "will smith phoned, and Jane Smith will call back", { session });
    await lares.chat("owner", "Jane Smith will come on Monday", { session });
    const said = await cli("memory", "forget", "--about", typed, "--yes");
    expect(said).toContain("Forgot 1 fact and");
    expect(await cli("memory", "search", "euros")).not.toContain("ten euros");
    const request = await nextRequest(session);
    expect(request).not.toMatch(/will smith/i);
    expect(request).toContain("Jane Smith will come on Monday");
    expect(await cli("memory", "search", "doctor")).toContain("Jane Smith");
  },
);

test("a family name lists everybody who has it, and the owner leaves some out", async () => {
  const session = "agent:main:webers";
  await lares.chat("owner", saved("Otto Weber is my dentist"), { session });
  await lares.chat("owner", saved("Petra Weber sings in the choir"), { session });
  await lares.chat("owner", saved("Weber & Sons repaired the roof"), { session });
  await lares.chat("owner", "Petra Weber called about the rehearsal", { session });
  const preview = await lares.rpc("memory.forget", { about: "weber", preview: true });
  expect(preview.names).toEqual(expect.arrayContaining(["Otto Weber", "Petra Weber"]));
  const roof = preview.facts!.find((fact) => fact.text.includes("roof"))!;
  const said = await cli(
    "memory",
    "forget",
    "--about",
    "weber",
    "--except",
    "petra weber",
    "--except",
    roof.id.slice(-6),
    "--yes",
  );
  expect(said).toContain("Forgot 1 fact");
  const request = await nextRequest(session);
  expect(request).toContain("Petra Weber called about the rehearsal");
  expect(request).not.toContain("dentist");
  const facts = (await lares.rpc("memory.list", { limit: 1000 })).facts.map((fact) => fact.text);
  expect(facts).toEqual(expect.arrayContaining(["Petra Weber sings in the choir", "Weber & Sons repaired the roof"]));
  expect(facts.join()).not.toContain("dentist");
});

test("names that share a stem stay distinct, and names with invisible characters are found", async () => {
  const session = "agent:main:stems";
  for (const text of ["Oliver runs the bakery", "Olive is my aunt", "Hans has a drill", "Han has a saw"])
    await lares.chat("owner", saved(text), { session });
  await lares.chat("owner", "Ber\u00adta Klum and Ber\u200bta Klum and BertaKlum are one person", { session });
  expect(await cli("memory", "forget", "--about", "olive", "--yes")).toContain("Forgot 1 fact");
  expect(await cli("memory", "forget", "--about", "hans", "--yes")).toContain("Forgot 1 fact");
  const facts = (await lares.rpc("memory.list", { limit: 1000 })).facts.map((fact) => fact.text);
  expect(facts).toEqual(expect.arrayContaining(["Oliver runs the bakery", "Han has a saw"]));
  expect(facts.join()).not.toMatch(/Olive is|Hans/);
  const { said } = await lares.rpc("memory.forget", { about: "berta klum" });
  expect(said!.length).toBeGreaterThan(0);
  expect(await nextRequest(session)).not.toContain("one person");
});

test("several people are forgotten each on their own, and one that nothing mentions is named", async () => {
  const session = "agent:main:several";
  const facts = async () => (await lares.rpc("memory.list", { limit: 1000 })).facts.map((fact) => fact.text).join();
  for (const text of ["Bodo plays chess", "Carlotta has a boat", "Dagmar paints doors", "Egon bakes bread"])
    await lares.chat("owner", saved(text), { session });
  const call = `tool:tool_run {"name":"memory_forget","input":{"about":"Bodo and Carlotta"}} then: say:{results}`;
  const { response } = await lares.chat("owner", `forget everything about Bodo and Carlotta\n${call}`, { session });
  expect(response).toMatch(/Bodo: 1 fact.*\n.*Carlotta: 1 fact/);
  expect(await facts()).not.toMatch(/chess|boat/);

  const preview = await lares.rpc("memory.forget", { about: "Dagmar, Egon and Friedbert", preview: true });
  expect(preview.topics!.map(({ about, facts }) => [about, facts])).toEqual([
    ["Dagmar", 1],
    ["Egon", 1],
    ["Friedbert", 0],
  ]);
  const said = await cli("memory", "forget", "--about", "dagmar", "--about", "Friedbert", "--about", "egon", "--yes");
  expect(said).toContain("Forgot 2 facts");
  expect(said).toContain('Nothing mentions "Friedbert".');
  expect(await facts()).not.toMatch(/doors|bread/);
});

test("a phrase that is written as a whole is one topic, and says how to name its parts", async () => {
  const session = "agent:main:whole";
  for (const text of ["I shop at Marks and Spencer", "Spencer is my cousin", "Ilse Kron, my aunt, sings"])
    await lares.chat("owner", saved(text), { session });
  expect(await cli("memory", "forget", "--about", "Kron, Ilse", "--yes")).toContain("Forgot 1 fact");
  const { topics } = await lares.rpc("memory.forget", { about: "Marks and Spencer", preview: true });
  expect(topics).toEqual([
    expect.objectContaining({ about: "Marks and Spencer", facts: 1, apart: ["Marks", "Spencer"] }),
  ]);
  for (let n = 0; n < 2; n++) await lares.rpc("memory.forget", { about: topics!.map(({ again }) => again) });
  const facts = (await lares.rpc("memory.list", { limit: 1000 })).facts.map((fact) => fact.text).join();
  expect(facts).toContain("Spencer is my cousin");
  expect(facts).not.toContain("Marks");
});
