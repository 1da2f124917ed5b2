/** Attachments as files of the workspace: where they lie, what the model is told, and when they go. */

import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type AgentId, asId } from "../../src/core/domain/index.ts";
import { ManualClock, silentLog } from "../../src/core/kit/index.ts";
import { Attachments } from "../../src/flow/attachments/index.ts";
import { inboxName } from "../../src/flow/attachments/name.ts";
import { openRecords } from "../../src/ground/records/index.ts";
import { envelopes, Lares, scratch, startModel, toolResults, userTexts } from "../support/index.ts";
import { PNG } from "./support.ts";

const CSV = `${Array.from({ length: 60_000 }, (_, i) => `${i + 1},row ${i + 1}`).join("\n")}\n`;

describe("in the running program", () => {
  let model: Awaited<ReturnType<typeof startModel>>;
  let lares: Lares;
  beforeAll(async () => {
    model = await startModel();
  });
  afterAll(() => model?.close());
  afterEach(() => lares?.dispose());

  async function put(name: string, body: string | Buffer): Promise<string> {
    const answer = await fetch(`${lares.url}/attachments`, {
      method: "POST",
      headers: { authorization: `Bearer ${lares.token}`, "x-lares-name": encodeURIComponent(name) },
      body: Buffer.from(body),
    });
    expect(answer.status).toBe(201);
    return ((await answer.json()) as { id: string }).id;
  }
  const inbox = () => join(lares.workspace(), "inbox");

  it("a large sheet lies in inbox/ in full, the message names the path, and the call it names reads on", async () => {
    lares = await new Lares({ env: model.env, config: { policy: { mode: "record" } } }).start();
    const id = await put("../My sheet (1).CSV", CSV);
    const sent = { user: "ana", attachments: [id] };
    const { session } = await lares.rpc("chat.send", { ...sent, message: "say:seen" });
    expect(readFileSync(join(inbox(), "My_sheet_1.csv"), "utf8")).toBe(CSV);
    const request = model.requests.at(-1)!;
    expect(envelopes(request).at(-1)).toMatch(/ · 1 file: inbox\/My_sheet_1\.csv\]$/);
    const text = userTexts(request).join("\n");
    expect(text.length).toBeLessThan(70_000);
    expect(text).toContain("[Attached file My sheet (1).CSV, in the workspace as inbox/My_sheet_1.csv]");
    const [, call] = /The full text is in inbox\/My_sheet_1\.csv; search it, or go on with read (\{.*?\})\]/.exec(
      text,
    )!;
    await lares.chat("ana", `tool:read ${call} then: say:read`);
    const { offset } = JSON.parse(call!) as { offset: number };
    expect(text).toContain(`\n${offset - 1},row ${offset - 1}\n`);
    expect(toolResults(model.requests.at(-1)!).at(-1)!.text).toMatch(new RegExp(`^${offset},row ${offset}\n`));
    await lares.rpc("sessions.delete", { session });
    expect(readdirSync(inbox())).toEqual([]);
  });

  it("killed right after the message was accepted, the file is there, once, and the model reads its path (ATTACHMENTS-6)", async () => {
    lares = await new Lares({ env: model.env }).start({ LARES_CRASH_AT: "accept.committed" });
    const id = await put("a.png", PNG);
    const params = { message: "say:seen", user: "ana", attachments: [id], idempotencyKey: "k" };
    await lares.rpc("chat.send", params).catch(() => {});
    await lares.gone;
    expect(readFileSync(join(inbox(), "a.png")).equals(PNG)).toBe(true);
    await lares.start({ LARES_CRASH_AT: "" });
    expect(await lares.rpc("chat.send", params)).toMatchObject({ response: "seen", duplicate: true });
    expect(envelopes(model.requests.at(-1)!).at(-1)).toContain("1 file: inbox/a.png");
    expect(readdirSync(inbox())).toEqual(["a.png"]);
  });
});

describe("the files of the inbox", () => {
  let n = 0;
  async function room() {
    const home = scratch("inbox");
    const workspace = join(home, "workspace");
    mkdirSync(workspace);
    const records = await openRecords(join(home, "lares.db"), () => {});
    const ids = { next: () => `at_${String(n++).padStart(26, "0")}` };
    const readPdf = () => Promise.reject(new Error("not asked for"));
    const open = () =>
      new Attachments({
        ...{ home, records, clock: new ManualClock(), ids, log: silentLog, readPdf, redact: (text: string) => text },
        findWorkspace: () => workspace,
      });
    const attachments = open();
    const put = async (name: string, content: string) => {
      async function* body() {
        yield Buffer.from(content);
      }
      return (await attachments.put(body(), { name, by: "me" })).id;
    };
    const me = { id: "me", isOwner: true, agent: asId<AgentId>("main") };
    /** As a message does; without `record`, as one that was never admitted. */
    const hold = async (ids: string[], session = "s", record = true) => {
      const held = await attachments.hold(ids, asId(session), me);
      if (record) await records.write((tx) => held.record(tx));
      held.release();
      return held.parts.map((part) => (part.type === "image" ? part.path : part.file?.path));
    };
    return { attachments, open, put, hold, me, workspace, records, inbox: join(workspace, "inbox") };
  }

  it("get names of their own, and the same content the same one", async () => {
    const { put, hold, inbox } = await room();
    const ids = [await put("a.txt", "one"), await put("a.txt", "two"), await put("a.txt", "one")];
    expect(await hold(ids)).toEqual(["inbox/a.txt", "inbox/a-2.txt", "inbox/a.txt"]);
    expect(readdirSync(inbox).sort()).toEqual(["a-2.txt", "a.txt"]);
    // Sent again, as after a crash before it was admitted: nothing doubles.
    expect(await hold(ids, "s", false)).toEqual(["inbox/a.txt", "inbox/a-2.txt", "inbox/a.txt"]);
    expect(readdirSync(inbox)).toHaveLength(2);
  });

  it("overwrite nothing that is there, and follow no link (ATTACHMENTS-8)", async () => {
    const { put, hold, inbox, workspace } = await room();
    mkdirSync(inbox);
    writeFileSync(join(inbox, "a.txt"), "the owner's own");
    writeFileSync(join(workspace, "elsewhere"), "untouched");
    symlinkSync("../elsewhere", join(inbox, "b.txt"));
    expect(await hold([await put("a.txt", "one"), await put("b.txt", "two")])).toEqual([
      "inbox/a-2.txt",
      "inbox/b-2.txt",
    ]);
    expect(readFileSync(join(inbox, "a.txt"), "utf8")).toBe("the owner's own");
    expect(readFileSync(join(workspace, "elsewhere"), "utf8")).toBe("untouched");
  });

  it("go with the session, unless somebody changed them or another conversation has them too (ATTACHMENTS-7)", async () => {
    const { attachments, put, hold, inbox, records } = await room();
    const [kept, changed, shared, again] = [
      await put("kept.txt", "one"),
      await put("changed.txt", "two"),
      await put("shared.txt", "three"),
      await put("shared.txt", "three"),
    ];
    await hold([kept, changed, shared]);
    await hold([again], "other");
    writeFileSync(join(inbox, "changed.txt"), "edited");
    const end = async (session: string) => {
      const ids = await attachments.of(asId(session));
      await records.write((tx) => tx.run("DELETE FROM attachment WHERE session = ?", session));
      return ids;
    };
    await attachments.remove(await end("s"));
    expect(readdirSync(inbox).sort()).toEqual(["changed.txt", "shared.txt"]);
    // Killed before the files went: the next start does it.
    await end("other");
    await attachments.sweep();
    expect(readdirSync(inbox)).toEqual(["changed.txt"]);
  });

  it("are not made for guests, nor where they cannot be written; the message comes in all the same", async () => {
    const { attachments, put, me, workspace, inbox } = await room();
    const id = await put("a.txt", "one");
    const { agent: _none, ...guest } = me;
    const held = await attachments.hold([id], asId("s"), guest);
    expect(JSON.stringify(held.parts)).not.toContain("inbox");
    expect(existsSync(inbox)).toBe(false);
    symlinkSync("/tmp", join(workspace, "inbox"));
    const [part] = (await attachments.hold([id], asId("s"), me)).parts;
    expect(part).toMatchObject({ type: "text", text: expect.stringContaining("one") });
    expect(JSON.stringify(part)).not.toContain("inbox/");
  });

  it.each([
    ["Report (final).pdf", "Report_final.pdf"],
    ["$(rm -rf ~).sh", "rm_-rf.sh"],
    ["..hidden", "file.hidden"],
    ["-rf", "rf"],
    ["Ünïcode 文件.TXT", "Ünïcode_文件.txt"],
    ["\u202eexe.txt", "exe.txt"],
    [".png", "file.png"],
  ])("%s becomes %s", (label, name) => {
    expect(inboxName(label)).toBe(name);
  });

  it("have names of a bounded length that keep their ending", () => {
    const name = inboxName(`${"x".repeat(500)}.csv`, 12);
    expect(name).toMatch(/^x+-12\.csv$/);
    expect(`inbox/${name}`.length).toBeLessThanOrEqual(60);
    expect(Buffer.byteLength(inboxName(`${"𝒳".repeat(500)}.csv`))).toBeLessThanOrEqual(255);
  });
});
