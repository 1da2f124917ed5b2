/** Files both ways: what people send reaches the model, what the agent sends arrives with its name and bytes, and never twice. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { directiveScript } from "../../fakes/model-server/index.ts";
import { requestsWith, toolResults, until, userTexts } from "../../support/index.ts";
import { pretend } from "../../support/pretend.ts";
import { NOTE, type Stage } from "./stage.ts";

/** A picture of one pixel. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
/** More than Lares takes in, or an agent sends. */
const TOO_MUCH = 20 * 1_048_576 + 1;

export function mediaSection(stage: Stage): void {
  /** The model makes a file and sends it. Made while the turn runs: nothing older leaves by the tool. */
  const sends = (asked: string, file: { name: string; bytes: Buffer }) => {
    const script = directiveScript();
    stage.model.use((request) => {
      if (request.messages.at(-1)?.role !== "user" || userTexts(pretend(request)).at(-1) !== asked)
        return request.messages.at(-1)?.role === "tool" ? { text: `${asked}: done` } : script(request);
      writeFileSync(join(stage.lares.workspace(), file.name), file.bytes);
      return { toolCalls: [{ name: "message", input: { text: "here it is", files: [file.name] } }] };
    });
    return () => stage.platform.say(stage.owner, asked);
  };

  test("media: a picture reaches the model as a picture, a text file as its text", async () => {
    const { platform, owner, model, can } = stage;
    if (!can.hears.includes("files")) return;
    await platform.sendFile!(owner, { name: "pixel.png", type: "image/png", bytes: PNG }, "say:seen-the-picture");
    await stage.shows("seen-the-picture");
    const parts = requestsWith(model, "seen-the-picture")[0]!.messages.flatMap((m) => m.parts);
    expect(parts).toContainEqual({ type: "image", mediaType: "image/png", data: PNG.toString("base64") });
    const note = { name: "note.txt", type: "text/plain", bytes: Buffer.from("the word is PERIWINKLE") };
    await platform.sendFile!(owner, note, "say:read-the-note");
    await stage.shows("read-the-note");
    expect(JSON.stringify(requestsWith(model, "read-the-note")[0]!.messages)).toContain("PERIWINKLE");
  });

  test("media: a file that is too large is left out with a sentence, and its words are answered", async () => {
    const { platform, owner, model, can } = stage;
    if (!can.hears.includes("files") || platform.noLargeFiles) return;
    const big = { name: "big.txt", type: "text/plain", bytes: Buffer.alloc(TOO_MUCH, "a") };
    await platform.sendFile!(owner, big, "say:too-large-in");
    await stage.shows("too-large-in");
    expect(JSON.stringify(requestsWith(model, "too-large-in")[0]!.messages)).toMatch(
      /file .{0,4}big\.txt.{0,4} left out: [^\]]*(larger than|over) 20 MB/,
    );
  }, 60_000);

  test("media: a file that is too large and comes without a word is not lost: the model hears of it", async () => {
    const { platform, owner, model, can } = stage;
    if (!can.hears.includes("files") || platform.noLargeFiles) return;
    const big = { name: "alone.txt", type: "text/plain", bytes: Buffer.alloc(TOO_MUCH, "a") };
    await platform.sendFile!(owner, big, "");
    await until("the model hears of the file", () =>
      model.requests.some((one) => JSON.stringify(one.messages.at(-1)).includes("alone.txt")),
    );
  }, 60_000);

  test("media: a file the agent sends arrives once, with its name and its bytes", async () => {
    const { platform, owner, can } = stage;
    if (!can.files) return;
    await sends("the report please", { name: "report.txt", bytes: Buffer.from("all is well") })();
    await stage.shows("the report please: done");
    await stage.quiet();
    const files = (await platform.filesShown!(owner)).filter((file) => file.name === "report.txt");
    expect(files.map(({ bytes }) => bytes.toString("utf8"))).toEqual(["all is well"]);
  });

  test("media: what the channel does not take is named instead of sent, and the rest arrives", async () => {
    const { platform, owner, model, can } = stage;
    const size = can.files ? Math.min(can.files + 1, TOO_MUCH) : 10;
    await sends("the large one please", { name: "large.bin", bytes: Buffer.alloc(size, 1) })();
    const told = await until("a sentence about it", async () => {
      const inChat = (await stage.texts()).join("\n").match(/large\.bin wasn't sent: [^\]]+/)?.[0];
      const toModel = requestsWith(model, "the large one please").flatMap(toolResults).at(-1)?.text;
      return inChat ?? toModel?.match(/large\.bin is larger than 20 MB/)?.[0];
    });
    expect(told).toMatch(can.files ? /larger than/ : /doesn't accept files/);
    if (can.files) expect((await platform.filesShown!(owner)).map((file) => file.name)).not.toContain("large.bin");
    await stage.shows("the large one please: done");
    await stage.settled("after-the-large-one");
  }, 60_000);

  test("media: kill -9 between upload and send, and after the send: the file is there once, or one note says that nobody knows", async () => {
    const { platform, owner, can, lares } = stage;
    if (!can.files) return;
    const fate = async (name: string) => ({
      files: (await platform.filesShown!(owner)).filter((file) => file.name === name).length,
      notes: await stage.count(NOTE),
    });
    const before = await stage.count(NOTE);
    const arrived = platform.holdFile!();
    await sends("the held one please", { name: "held.txt", bytes: Buffer.from("held") })();
    await until("the send to reach the platform", arrived, {
      withinMs: 60_000,
      instead: async () => [(await stage.texts()).slice(-5), await lares.rpc("turns.list", { limit: 3 })],
    });
    await lares.kill9();
    await stage.restart();
    await stage.shows("the held one please: done");
    await stage.settled("after-the-held-one");
    const held = await fate("held.txt");
    expect([held.files + held.notes - before, held.files <= 1]).toEqual([1, true]);

    await lares.kill9();
    await stage.die("send.after", sends("the taken one please", { name: "taken.txt", bytes: Buffer.from("taken") }));
    await stage.restart();
    await stage.shows("the taken one please: done");
    await stage.settled("after-the-taken-one");
    const taken = await fate("taken.txt");
    expect(taken.files).toBe(1);
    expect(taken.notes - held.notes).toBeLessThanOrEqual(1);
  }, 180_000);
}
