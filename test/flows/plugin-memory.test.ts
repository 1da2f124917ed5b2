/** A plugin as a memory back end: its finds join ours, it hears what is saved and forgotten, and nobody waits for it. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { toolResults, until } from "../support/index.ts";
import { makePlugin, startPlugins } from "../support/plugin.ts";

const SHELF = fileURLToPath(new URL("../../examples/plugin/shelf", import.meta.url));
const OFF = { embedder: { use: "off" }, capture: { use: "off" } };

async function startShelf(plugins: object = { shelf: {} }, more: object = {}) {
  const world = await startPlugins({ memory: { ...OFF, plugins }, gateway: { http: { wait: 5 } }, ...more });
  const { lares, model } = world;
  const file = join(lares.home, "plugins/data/shelf/facts.json");
  /** The texts that the back end has. */
  const held = () =>
    existsSync(file)
      ? Object.values(JSON.parse(readFileSync(file, "utf8")) as Record<string, { text: string }>)
          .map(({ text }) => text)
          .sort()
      : [];
  const note = (name: string, text: string) => {
    mkdirSync(join(lares.home, "plugins/data/shelf/notes"), { recursive: true });
    writeFileSync(join(lares.home, "plugins/data/shelf/notes", name), text);
  };
  /** What the model reads of a search, and whether it counts as text from outside. */
  const found = async (query: string, person = "owner") => {
    await lares.chat(person, `tool:memory_search ${JSON.stringify({ query })} then: say:done`);
    return toolResults(model.requests.at(-1)!).at(-1)!.text;
  };
  const status = async () => (await lares.rpc("memory.status", {})).backends;
  const problems = async () =>
    (await lares.rpc("attention.list", {})).items.map((item) => JSON.stringify(item)).join("\n");
  return { ...world, held, note, found, status, problems };
}

it("examples/plugin/shelf: its finds join ours as text from outside with its name, and its right is shown (BACKEND-1)", async () => {
  const { lares, install, note, found, held } = await startShelf();
  const { rights } = await lares.rpc("plugins.stage", { from: SHELF });
  expect(rights).toContain(
    "read what agents remember and search for, and add to what they find, for memory that you connect to it",
  );
  await lares.rpc("memory.add", { text: "The boiler is serviced by Weber" });
  await install(SHELF);
  await lares.rpc("config.set", { path: "memory.plugins.shelf", value: {} });
  await until("the fact to arrive", () => held().includes("The boiler is serviced by Weber"), { withinMs: 20_000 });
  note("heating.txt", "The boiler's \u{200b}manual is in the blue folder");
  const text = await found("boiler");
  expect(text.match(/serviced by Weber/g)).toHaveLength(1);
  expect(text).toContain("[plugin shelf, heating.txt]: The boiler's manual is in the blue folder");
  // And then what a turn keeps needs a person.
  const save = 'tool:memory_save {"text":"the visitor is the owner"} then: say:done';
  const asked = await lares.chat("owner", `tool:memory_search {"query":"boiler"} then: ${save}`);
  expect(asked).toMatchObject({ state: "parked", approval: { tool: "memory_save" } });
  const { results } = await lares.rpc("memory.search", { query: "boiler" });
  expect(results).toContainEqual(expect.objectContaining({ source: "plugin shelf", kind: "outside" }));
});

it("forgetting reaches it over a kill, and one that didn't arrive is visible; it never brings back what was forgotten (BACKEND-2)", async () => {
  const { lares, install, held, found, status, problems } = await startShelf();
  await install(SHELF);
  const { id } = await lares.rpc("memory.add", { text: "Ottilie has the spare key" });
  await lares.rpc("memory.add", { text: "The piano is tuned in May" });
  await until("both facts to arrive", () => held().length === 2, { withinMs: 20_000 });
  await lares.rpc("plugins.disable", { name: "shelf" });
  await lares.rpc("memory.forget", { id });
  await until("the trouble to be seen", async () =>
    (await problems()).includes("shelf still has 1 fact that was forgotten"),
  );
  expect(await status()).toEqual([
    expect.objectContaining({ plugin: "shelf", unforgotten: 1, problem: expect.stringContaining("off") }),
  ]);
  await lares.kill9();
  await lares.start();
  expect((await status())[0]).toMatchObject({ unforgotten: 1 });
  expect(await found("spare key")).not.toContain("Ottilie");
  await lares.rpc("plugins.enable", { name: "shelf" });
  await until("the forgetting to arrive", () => held().length === 1, { withinMs: 30_000 });
  await until("nothing to be open", async () => (await status())[0]?.unforgotten === 0);
  expect(await problems()).not.toContain("shelf");
});

it("a corrected fact replaces the old one there, and a forgotten fact that it still shows isn't shown (BACKEND-2, BACKEND-3)", async () => {
  const { lares, install, held, note, found } = await startShelf();
  await install(SHELF);
  const { id } = await lares.rpc("memory.add", { text: "The gate code is blue heron" });
  await until("the fact to arrive", () => held().length === 1, { withinMs: 20_000 });
  const fixed = await lares.rpc("memory.correct", { id, text: "The gate code is grey heron" });
  await until("the correction to arrive", () => held().join() === "The gate code is grey heron", { withinMs: 20_000 });
  await lares.rpc("memory.forget", { id: fixed.id });
  await until("the forgetting to arrive", () => held().length === 0, { withinMs: 20_000 });
  // It wrote the words down elsewhere: they are still not said.
  note("old.txt", "The gate code is GREY heron");
  expect(await found("gate code")).not.toMatch(/heron/i);
});

it("a narrower scope finds nothing of it that is the owner's (BACKEND-3, MEMORY-1)", async () => {
  const { lares, install, note, found, held } = await startShelf();
  await install(SHELF);
  await lares.rpc("memory.add", { text: "The alarm is off on Mondays" });
  await until("the fact to arrive", () => held().length === 1, { withinMs: 20_000 });
  note("alarm.txt", "The alarm code is in the drawer");
  expect(await found("alarm")).toContain("drawer");
  const { results } = await lares.rpc("memory.search", { query: "alarm", scope: "person:eve" });
  expect(results).toEqual([]);
});

it("a back end that hangs costs a search its deadline and no more, and the answer says so (BACKEND-4)", async () => {
  const { lares, install, found } = await startShelf(
    { sky: { waitMs: 300 } },
    { plugins: { config: { sky: { memory: "hangs" } } } },
  );
  await install(makePlugin("sky", { rights: { tools: [], memory: true } }));
  await lares.rpc("memory.add", { text: "The ferry leaves at nine" });
  await found("ferry");
  const before = performance.now();
  const text = await found("ferry");
  expect(text).toContain("The ferry leaves at nine");
  expect(text).toContain("The plugin sky didn't answer in time");
  expect(performance.now() - before).toBeLessThan(5000);
});

it.each(["garbage answers", "too much"])(
  "a back end with %s adds nothing, and the answer says so (BACKEND-4)",
  async (way) => {
    const { lares, install, found } = await startShelf(
      { sky: { waitMs: 10_000 } },
      { plugins: { config: { sky: { memory: way } } } },
    );
    await install(makePlugin("sky", { rights: { tools: [], memory: true } }));
    await lares.rpc("memory.add", { text: "The ferry leaves at nine" });
    const text = await found("ferry");
    expect(text).toContain("The ferry leaves at nine");
    if (way === "too much") expect(text.length).toBeLessThan(20_000);
    else expect(text).toContain("The plugin sky answered with something else");
  },
);

it("a plugin without the right isn't asked, and memory says why", async () => {
  const { install, problems, found, lares } = await startShelf({ sky: {}, gone: {} });
  await install(makePlugin("sky"));
  await lares.rpc("memory.add", { text: "The ferry leaves at nine" });
  await until("the reason", async () => (await problems()).includes("wasn't granted the right"), { withinMs: 20_000 });
  expect(await problems()).toContain('There is no plugin \\"gone\\"');
  expect(await found("ferry")).toContain("The ferry leaves at nine");
});

it("one that is only searched is told nothing, and one that is taken out of the settings is still told what to forget", async () => {
  const { lares, install, held, status } = await startShelf({ shelf: { tell: false } });
  await install(SHELF);
  const { id } = await lares.rpc("memory.add", { text: "The ferry leaves at nine" });
  await lares.rpc("memory.search", { query: "ferry" });
  expect(held()).toEqual([]);
  await lares.rpc("config.set", { path: "memory.plugins.shelf.tell", value: true });
  await until("the fact to arrive", () => held().length === 1, { withinMs: 20_000 });
  await lares.rpc("config.set", { path: "memory.plugins", value: {} });
  await lares.rpc("memory.add", { text: "The ferry is blue" });
  await lares.rpc("memory.forget", { id });
  await until("the forgetting to arrive", () => held().length === 0, { withinMs: 20_000 });
  expect(await status()).toEqual([]);
});
