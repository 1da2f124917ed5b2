import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { letOthersRun, ManualClock, silentLog, systemClock } from "../../src/core/kit/index.ts";
import { Documents, SessionIndex } from "../../src/mind/memory/index.ts";
import { until } from "../support/until.ts";
import { agree, openMemory, removeDir } from "./support.ts";

async function start() {
  const opened = await openMemory();
  onTestFinished(async () => {
    await opened.close();
    removeDir(opened.dir);
  });
  return opened;
}

describe("session messages", () => {
  async function talk() {
    const opened = await start();
    const sessions = new SessionIndex({ records: opened.records, clock: systemClock });
    const say = (session: string, seq: number, text: string, role = "user") =>
      opened.records.write((tx) =>
        tx.run(
          "INSERT INTO message (session, seq, id, turn, role, content, at) VALUES (?, ?, ?, 't', ?, ?, ?)",
          session,
          seq,
          `${session}-${seq}`,
          role,
          JSON.stringify([{ type: role === "tool" ? "tool-result" : "text", text }]),
          seq * 1000,
        ),
      );
    const begin = (key: string, person: string) =>
      opened.records.write((tx) =>
        tx.run(
          "INSERT INTO session (key, agent, person, created_at, updated_at) VALUES (?, 'main', ?, 0, 0)",
          key,
          person,
        ),
      );
    return { ...opened, sessions, say, begin };
  }

  it("are found without a model, with session and number, and the one beside a hit is found too", async () => {
    const { sessions, say } = await talk();
    await say("s1", 1, "what did the plumber say about the boiler?");
    await say("s1", 2, "he will come again on Thursday", "assistant");
    await Promise.all(Array.from({ length: 37 }, (_, n) => say("s1", n + 3, `something else ${n}`)));
    await sessions.settled();
    const found = await sessions.search({ query: "boiler plumbers", limit: 2 });
    expect(found.map((hit) => hit.text)).toEqual(
      expect.arrayContaining(["what did the plumber say about the boiler?", "he will come again on Thursday"]),
    );
    expect(found[0]).toMatchObject({ source: "s1", kind: "message" });
    expect(Number(found[0]!.place)).toBeLessThan(3);
  });

  it("are indexed at once after a pause, those of a busy moment together, and a search finds them sooner", async () => {
    const { records, say } = await talk();
    const clock = new ManualClock();
    const sessions = new SessionIndex({ records, clock });
    const indexed = () => until("all to be indexed", async () => (await sessions.waiting()) === 0);
    await say("s1", 1, "the key to the boathouse is under the blue pot");
    sessions.gather();
    await indexed();
    await say("s1", 2, "the oars are in the shed");
    sessions.gather();
    await say("s1", 3, "the anchor is in the cellar");
    sessions.gather();
    await letOthersRun();
    expect(await sessions.waiting()).toBe(2);
    expect(await sessions.search({ query: "anchor", limit: 1 })).toMatchObject([{ place: "3" }]);
    await say("s1", 4, "the boat leaks");
    sessions.gather();
    clock.advance(2000);
    await indexed();
    await sessions.stop();
  });

  it("are left to the next start by a stop", async () => {
    const { records, say } = await talk();
    const clock = new ManualClock();
    const sessions = new SessionIndex({ records, clock });
    sessions.gather();
    await sessions.settled();
    await say("s1", 1, "the key to the boathouse is under the blue pot");
    sessions.gather();
    await sessions.stop();
    clock.advance(2000);
    sessions.gather();
    expect(await sessions.waiting()).toBe(1);
  });

  it("are indexed after the write, and only once", async () => {
    const { sessions, say, records } = await talk();
    await Promise.all(Array.from({ length: 150 }, (_, n) => say("s1", n + 1, `message about topic${n + 1}`)));
    expect(await sessions.waiting()).toBe(150);
    expect(await sessions.search({ query: "topic77" })).toEqual([]);
    await sessions.settled();
    expect(await sessions.waiting()).toBe(0);
    await say("s1", 151, "one more about topic151");
    expect(await sessions.waiting()).toBe(1);
    await sessions.settled();
    expect((await sessions.search({ query: "topic151" }))[0]!.id).toBe("s1-151");
    expect(await records.all("SELECT rowid FROM message_fts WHERE message_fts MATCH 'topic77'")).toHaveLength(1);
  });

  it("of somebody else are not found by a stranger", async () => {
    const { sessions, say, begin } = await talk();
    await begin("own", "stan");
    await begin("other", "owner");
    await say("own", 1, "my parcel has not arrived");
    await say("other", 1, "the parcel with the ring is hidden in the shed");
    await sessions.settled();
    const found = async (query: Parameters<SessionIndex["search"]>[0]) =>
      (await sessions.search(query)).map((hit) => hit.source);
    expect(await found({ query: "parcel", person: "stan" })).toEqual(["own"]);
    expect(await found({ query: "parcel", person: "stan", sessions: ["other"] })).toEqual([]);
    expect(await found({ query: "parcel", person: "nobody" })).toEqual([]);
    expect((await found({ query: "parcel", person: "owner", owner: true })).sort()).toEqual(["other", "own"]);
  });

  it("are indexed after what waits already: the answer that wakes the index goes out first", async () => {
    const { sessions, say } = await talk();
    await say("s1", 1, "the answer to everything");
    const order: string[] = [];
    const answered = new Promise<void>((resolve) => setImmediate(resolve)).then(() => order.push("answered"));
    const indexed = sessions.settled().then(() => order.push("indexed"));
    // As long as only promises settle, nothing has been looked at.
    for (let i = 0; i < 100; i++) await null;
    expect(await sessions.waiting()).toBe(1);
    await Promise.all([answered, indexed]);
    expect(order).toEqual(["answered", "indexed"]);
  });

  it("that were deleted are gone from the index too", async () => {
    const { sessions, say, records } = await talk();
    await say("s1", 1, "the secret is Rumpelstilzchen");
    await sessions.settled();
    await records.write((tx) => tx.run("DELETE FROM message WHERE session = 's1'"));
    expect(await sessions.search({ query: "Rumpelstilzchen" })).toEqual([]);
    expect(await records.all("SELECT rowid FROM message_fts WHERE message_fts MATCH 'rumpelstilzchen'")).toEqual([]);
  });
});

describe("a folder of documents", () => {
  async function folder() {
    const opened = await start();
    const dir = mkdtempSync(join(tmpdir(), "lares-docs-"));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    const documents = new Documents({
      memory: opened.memory,
      records: opened.records,
      clock: systemClock,
      log: silentLog,
    });
    return { ...opened, dir, documents, write: (name: string, text: string) => writeFileSync(join(dir, name), text) };
  }

  it("that the settings name comes and goes with them, while the program runs", async () => {
    const { memory, documents, dir, write } = await folder();
    onTestFinished(() => documents.stop());
    write("ferry.txt", "The ferry to Texel leaves hourly.");
    await documents.start([dir]);
    expect(await memory.search({ query: "ferry" })).toHaveLength(1);
    expect(await documents.folders()).toMatchObject([{ dir, declared: true }]);
    await documents.start([]);
    expect(await memory.search({ query: "ferry" })).toEqual([]);
    expect(await documents.folders()).toEqual([]);
  });

  it("is searched with file and place: markdown, text and pages", async () => {
    const { memory, documents, dir, write } = await folder();
    write(
      "instance.md",
      "# TestInstance\n\nThe lease ends in May.\n\n## Heating\n\nThe boiler is serviced by Brook & Sons.\n",
    );
    write("list.txt", "milk\nbread\nsaffron\n");
    write("page.html", "<h1>Trips</h1><script>var saffron</script><p>The ferry to Texel leaves hourly.</p>");
    const report = await documents.index(dir);
    expect(report).toMatchObject({ added: 3, changed: 0, removed: 0, skipped: [] });
    const [boiler] = await memory.search({ query: "who services the boiler?" });
    expect(boiler).toMatchObject({ source: join(dir, "instance.md"), place: "lines 5-7", kind: "document" });
    expect(boiler!.text).toContain("Brook");
    const saffron = await memory.search({ query: "saffron" });
    expect(saffron.map((hit) => hit.source)).toEqual([join(dir, "list.txt")]);
    expect((await memory.search({ query: "ferry" }))[0]!.text).toContain("Texel");
    // They are sources, not facts.
    expect(await memory.list()).toEqual([]);
  });

  it("is read again only where it changed, by time and size, then by content", async () => {
    const { memory, documents, dir, write, records } = await folder();
    write("a.md", "The code word is heron.");
    write("b.md", "Nothing here.");
    await documents.index(dir);
    expect(await documents.index(dir)).toMatchObject({ added: 0, changed: 0, unchanged: 2 });
    utimesSync(join(dir, "b.md"), 1, 1);
    expect(await documents.index(dir)).toMatchObject({ changed: 0, unchanged: 2 });
    write("a.md", "The code word is kingfisher.");
    expect(await documents.index(dir)).toMatchObject({ changed: 1, unchanged: 1 });
    expect(await memory.search({ query: "heron" })).toEqual([]);
    expect((await memory.search({ query: "kingfisher" }))[0]!.source).toBe(join(dir, "a.md"));
    rmSync(join(dir, "a.md"));
    expect(await documents.index(dir)).toMatchObject({ removed: 1 });
    expect(await memory.search({ query: "kingfisher" })).toEqual([]);
    await agree(records);
  });

  it("says what it leaves out, and follows no links", async () => {
    const { memory, documents, dir, write } = await folder();
    write("paper.pdf", "%PDF-1.7");
    write(".env.md", "token heron");
    write("blob.txt", "heron\0heron");
    const elsewhere = mkdtempSync(join(tmpdir(), "lares-elsewhere-"));
    onTestFinished(() => rmSync(elsewhere, { recursive: true, force: true }));
    writeFileSync(join(elsewhere, "secret.md"), "heron");
    symlinkSync(join(elsewhere, "secret.md"), join(dir, "link.md"));
    mkdirSync(join(dir, "node_modules"));
    write("node_modules/x.md", "heron");
    const report = await documents.index(dir);
    expect(report.skipped.map(({ path, why }) => [path.slice(dir.length + 1), why]).sort()).toEqual([
      ["blob.txt", "not a text"],
      ["paper.pdf", "pdf files can't be read yet"],
    ]);
    expect(await memory.search({ query: "heron" })).toEqual([]);
  });

  it("that is not there is named", async () => {
    const { documents } = await folder();
    await expect(documents.index("/nowhere/at/all")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});
