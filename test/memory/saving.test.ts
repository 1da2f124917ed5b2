/** What `memory_save` says and does in the real program. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Lares, startLares, startModel } from "../support/index.ts";

let model: Awaited<ReturnType<typeof startModel>>;
let lares: Lares;
beforeAll(async () => {
  model = await startModel();
  lares = await startLares({
    env: model.env,
    config: { policy: { mode: "record" }, memory: { embedder: { use: "off" }, capture: { use: "off" } } },
  });
});
afterAll(async () => {
  await lares?.dispose();
  await model?.close();
});

const factLike = async (text: string) =>
  (await lares.rpc("memory.list", { limit: 1000 })).facts.filter((fact) => fact.text.includes(text));

test("names what is near, replaces and expires; what was replaced comes back with undo", async () => {
  const save = (input: object) => `tool:memory_save ${JSON.stringify(input)} then: say:{results}`;
  await lares.rpc("memory.add", { text: "The ferry to Texel leaves at nine", scope: "shared" });
  const first = await lares.chat("owner", save({ text: "Ferry tickets to Texel cost twelve euros" }), {
    key: "near-1",
  });
  const [, id, near] = /Saved \((\w+)\)[\s\S]*Similar:\n(mem_\w+): The ferry to Texel/.exec(first.response!)!;
  expect(near).toBeTruthy();
  const text = "Ferry tickets to Texel cost fifteen euros";
  const second = await lares.chat("owner", save({ text, replaces: id, until: "2099-12-31" }), {
    key: "near-2",
    session: "agent:main:ferry",
  });
  const next = /Saved \((\w+)\)/.exec(second.response!)![1]!;
  expect((await factLike("Ferry tickets")).map((fact) => fact.text)).toEqual([text]);
  const kept = (await lares.rpc("memory.export", { limit: 1000 })).facts.find((fact) => fact.id === next);
  expect(kept).toMatchObject({ expiresAt: Date.parse("2099-12-31T23:59:59.999Z") });
  await lares.rpc("memory.undo", { id: next });
  expect((await factLike("Ferry tickets")).map((fact) => fact.text)).toEqual([expect.stringContaining("twelve")]);
});

test("a fact the owner added is replaced where it is; one that everybody sees is not, and the answer says so", async () => {
  const save = (input: object) => `tool:memory_save ${JSON.stringify(input)} then: say:{results}`;
  // Under a name, what is saved is the person's own by default: another scope than the old fact's.
  for (const user of ["owner", "ana"]) {
    const old = await lares.rpc("memory.add", { text: `The boiler of ${user} is serviced in May` });
    const text = `The boiler of ${user} is serviced in October`;
    const said = (await lares.chat(user, save({ text, replaces: old.id }), { key: `boiler-${user}` })).response!;
    expect(said).toMatch(/^Saved \(/);
    expect(said).not.toContain("Not replaced");
    expect((await factLike(`boiler of ${user}`)).map((fact) => [fact.text, fact.scope])).toEqual([[text, "shared"]]);
  }
  const open = await lares.rpc("memory.add", { text: "The shop opens at eight", scope: "public" });
  const text = "The shop of the hidden door opens at ten";
  const said = (await lares.chat("owner", save({ text, replaces: open.id }), { key: "shop" })).response!;
  expect(said).toContain(`Not replaced: ${open.id} is still current, because everybody can see it`);
  expect((await factLike("The shop")).map((fact) => fact.scope).sort()).toEqual(["agent:main", "public"]);
});

test("a fact that replaces another one without being asked to names it, in the tool and at the door", async () => {
  const save = (text: string) => `tool:memory_save ${JSON.stringify({ text })} then: say:{results}`;
  await lares.chat("owner", save("Eva lives in Rome"), { key: "eva-1" });
  const said = (await lares.chat("owner", save("Eva lives in Milan"), { key: "eva-2" })).response!;
  const [, id] =
    /^Saved \((\w+)\)\nThis replaces \(lares memory undo \1 brings it back\):\nmem_\w+: Eva lives in Rome/.exec(said)!;
  await lares.rpc("memory.undo", { id: id! });
  expect((await factLike("Eva lives")).map((fact) => fact.text)).toEqual(["Eva lives in Rome"]);

  const { id: bonn } = await lares.rpc("memory.add", { text: "Carla lives in Bonn" });
  expect(await lares.rpc("memory.add", { text: "Carla lives in Kiel" })).toMatchObject({
    replaced: [{ id: bonn, text: "Carla lives in Bonn" }],
  });
});

test("until takes plain words on the person's clock, and refuses what is over or no time", async () => {
  const save = (input: object) => `tool:memory_save ${JSON.stringify(input)} then: say:{results}`;
  const said = async (until: string) =>
    (await lares.chat("owner", save({ text: `The pass is valid, ${until}`, until }), { key: `until-${until}` }))
      .response!;
  expect(await said("2020-01-01")).toMatch(/until: 2020-01-01 is over, so it would be forgotten at once/);
  expect(await said("banana")).toMatch(/until: .*can't read "banana" as a time.*Give a day to come/);
  expect(await said("next week")).toMatch(/^Saved/);
  const kept = (await lares.rpc("memory.export", { limit: 1000 })).facts.find((fact) =>
    fact.text.endsWith("next week"),
  );
  const end = new Date(kept!.expiresAt as number);
  expect([end.getUTCDay(), end.getUTCHours(), end.getUTCMinutes()]).toEqual([1, 23, 59]);
  expect(end.getTime()).toBeGreaterThan(Date.now());
});

test("facts that have next to nothing to do with the new one are not called similar", async () => {
  await lares.rpc("memory.add", { text: "The new bicycle is blue" });
  await lares.rpc("memory.add", { text: "Grandma's new kitchen has a window" });
  const text = "The dentist moved to a new street";
  const said = (await lares.chat("owner", `tool:memory_save ${JSON.stringify({ text })} then: say:{results}`))
    .response!;
  expect(said).toMatch(/^Saved/);
  expect(said).not.toContain("Similar");
});
