/** Files and facts, both ways, step by step. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { ManualClock, noCrash, silentLog } from "../../src/core/kit/index.ts";
import { MemoryView } from "../../src/mind/memory/index.ts";
import { editsBetween } from "../../src/mind/memory/view/edits.ts";
import { parseItems, patched } from "../../src/mind/memory/view/items.ts";
import { openMemory, removeDir } from "./support.ts";

async function start(
  sizes = { memoryChars: 400, userChars: 300 },
  zone = Intl.DateTimeFormat().resolvedOptions().timeZone,
) {
  const opened = await openMemory();
  const dir = mkdtempSync(join(tmpdir(), "lares-view-"));
  mkdirSync(join(dir, "main"));
  const clock = new ManualClock(Date.parse("2026-03-04T12:00:00"));
  const make = () =>
    new MemoryView({
      ...{ memory: opened.memory, records: opened.records, clock, crash: noCrash, log: silentLog },
      agents: () => ["main"],
      findDir: (agent) => join(dir, agent),
      listTeams: () => [],
      sizes: () => sizes,
      zone: () => zone,
      order: async () => [],
    });
  const view = make();
  onTestFinished(async () => {
    await view.stop();
    await opened.close();
    removeDir(opened.dir);
    rmSync(dir, { recursive: true, force: true });
  });
  const path = (name: string) => join(dir, "main", name);
  return {
    ...opened,
    view,
    make,
    read: (name: string) => readFileSync(path(name), "utf8"),
    write: (name: string, text: string) => writeFileSync(path(name), text),
    sync: () => view.sync("main"),
    texts: async () => (await opened.memory.list()).map((fact) => fact.text),
  };
}

describe("a memory file", () => {
  it("has facts as list items; headings, prose and code are people's own (MEMORY-14)", () => {
    const text = "# Top\n\nprose\n- one\n- two\n  goes on\n```\n- code\n```\n* three\n";
    expect(parseItems(text).map((item) => item.text)).toEqual(["one", "two goes on", "three"]);
    const [one, two] = parseItems(text);
    expect(
      patched(
        text,
        new Map([
          [one!.from, "ONE"],
          [two!.from, null],
        ]),
        ["four"],
      ),
    ).toBe("# Top\n\nprose\n- ONE\n```\n- code\n```\n* three\n- four\n");
    expect(patched("# What is remembered\n\n(Nothing yet.)\n", new Map(), ["a"])).toBe("# What is remembered\n\n- a\n");
  });

  it("tells an edited item from a new one", () => {
    const before = [
      { id: "1", text: "Ana lives in Porto" },
      { id: "2", text: "The cat is called Mia" },
    ];
    const now = parseItems("- Ana lives in Lisbon\n- Bins go out on Tuesday\n");
    expect(editsBetween(before, now)).toEqual({
      added: ["Bins go out on Tuesday"],
      changed: [{ id: "1", was: "Ana lives in Porto", text: "Ana lives in Lisbon" }],
      removed: [{ id: "2", text: "The cat is called Mia" }],
    });
  });
});

describe("in step", () => {
  it("an edit of what changed meanwhile waits for a person with the reason, and nothing is lost (MEMORY-15)", async () => {
    const { memory, sync, read, write, texts } = await start();
    const { id } = await memory.add({ text: "The spare key lies under the fern" });
    const { id: other } = await memory.add({ text: "The gate code is 1234" });
    await sync();
    // Both at once, before the files were in step again.
    write(
      "MEMORY.md",
      read("MEMORY.md").replace("under the fern", "under the stone").replace("code is 1234", "code is 4321"),
    );
    await memory.forget(id);
    await memory.correct(other, "The gate code is 9999");
    await sync();
    const pending = await memory.pending();
    expect(pending.map((fact) => fact.text).sort()).toEqual([
      "The gate code is 4321",
      "The spare key lies under the stone",
    ]);
    expect(pending.map((fact) => fact.why).join()).toMatch(
      /forgotten[\s\S]*changed to "The gate code is 9999"|9999[\s\S]*forgotten/,
    );
    expect(await texts()).toEqual(["The gate code is 9999"]);
    expect(read("MEMORY.md")).toBe("# What is remembered\n\n- The gate code is 9999\n");
  });

  it("a missing or empty file forgets nothing and is written again (MEMORY-17)", async () => {
    const { memory, sync, read, write, texts } = await start();
    await memory.add({ text: "The well is dry in August" });
    await sync();
    for (const text of ["", "  \n"]) {
      write("MEMORY.md", text);
      await sync();
      expect(read("MEMORY.md")).toContain("The well is dry in August");
    }
    expect(await texts()).toEqual(["The well is dry in August"]);
  });

  it("is bounded: a hand's lines stay, what came by itself makes room and is still a fact", async () => {
    const { memory, sync, read, write } = await start({ memoryChars: 200, userChars: 200 });
    write("MEMORY.md", "# Mine\n\n- I wrote this line by hand\n");
    await sync();
    for (let n = 0; n < 30; n++) await memory.add({ text: `The shelf ${n} holds jars of plum jam` });
    await sync();
    const text = read("MEMORY.md");
    expect(text).toContain("- I wrote this line by hand");
    expect(text.length).toBeLessThan(260);
    expect(await memory.list({ limit: 100 })).toHaveLength(31);
    // In step means in step: nothing moves when nothing changed.
    await sync();
    expect(read("MEMORY.md")).toBe(text);
  });

  it("a long list written by hand stays whole, in order, and leaves the other file alone", async () => {
    const { sync, read, write, memory, records } = await start();
    write("USER.md", "# Me\n\n- Lives in Porto\n");
    await sync();
    const lines = Array.from({ length: 1500 }, (_, n) => `- Jar ${n} holds plums of the year ${1900 + n}`);
    const text = `# Mine\n\n${lines.join("\n")}\n`;
    write("MEMORY.md", text);
    await sync();
    for (let n = 0; n < 5; n++) await memory.add({ text: `The shelf ${n} was painted ${n} times` });
    await sync();
    expect(read("MEMORY.md").slice(0, text.length)).toBe(text);
    expect(read("USER.md")).toBe("# Me\n\n- Lives in Porto\n");
    // A line taken out of a long list is that one line forgotten.
    write("MEMORY.md", text.replace(`${lines[700]}\n`, ""));
    await sync();
    expect(read("MEMORY.md")).toBe(text.replace(`${lines[700]}\n`, ""));
    const { live } = (await records.get<{ live: number }>("SELECT count(*) AS live FROM memory WHERE state = 'live'"))!;
    expect(live).toBe(1505);
  });

  it("a line written by hand that Lares knew already is a person's line from then on", async () => {
    const { memory, sync, read, write } = await start({ memoryChars: 120, userChars: 120 });
    const text = "The attic key hangs behind the clock";
    await memory.add({ text });
    for (let n = 0; n < 30; n++) await memory.add({ text: `The shelf ${n} holds jars of plum jam` });
    await sync();
    expect(read("MEMORY.md")).not.toContain(text);
    write("MEMORY.md", `${read("MEMORY.md")}- ${text}\n`);
    await sync();
    await sync();
    expect(read("MEMORY.md")).toContain(text);
    expect((await memory.list({ limit: 100 })).filter((fact) => fact.text === text)).toHaveLength(1);
  });

  it("preferences stand in USER.md, a day's learning in its note; an item of a note by hand is an episode of that day", async () => {
    const { memory, sync, read, write, view } = await start();
    await memory.add({ text: "Prefers short answers", kind: "preference" });
    await sync();
    expect(read("USER.md")).toContain("- Prefers short answers");
    write("USER.md", "# Me\n\n- Prefers short answers\n- Lives in Porto\n");
    await sync();
    expect((await memory.list()).map((fact) => fact.kind)).toEqual(["preference", "person"]);
    expect(view).toBeDefined();
  });
});
