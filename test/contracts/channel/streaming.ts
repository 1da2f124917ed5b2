/** Answers that appear while they are written, and the signs that somebody works. */
import { expect, test } from "vitest";
import type { Json } from "../../../src/core/domain/index.ts";
import { callExec, heldCommand, until } from "../../support/index.ts";
import { NOTE, type Stage } from "./stage.ts";

const WORDS = Array.from({ length: 12 }, (_, i) => `word${String(i).padStart(2, "0")}`);
/** A little for the clocks of two programs and the time between two looks. */
const SLACK_MS = 150;

export function streamingSection(stage: Stage): void {
  const slowly = (tag: string) => ({
    said: `gap:350 say:${tag} ${WORDS.join(" ")}`,
    whole: `${tag} ${WORDS.join(" ")}`,
  });
  const about = async (tag: string) => (await stage.platform.shown(stage.owner)).filter((m) => m.text.includes(tag));

  /** Every text the message had, with the time it was first seen, until it is whole. */
  async function watch(tag: string, whole: string): Promise<{ id: string; text: string; at: number }[]> {
    const seen: { id: string; text: string; at: number }[] = [];
    await until(
      "the whole answer",
      async () => {
        for (const { id, text } of await about(tag)) {
          const last = seen.findLast((one) => one.id === id);
          if (last?.text !== text) seen.push({ id, text, at: Date.now() });
        }
        return seen.some(({ text }) => text.trim() === whole);
      },
      { withinMs: 60_000, instead: () => seen },
    );
    return seen;
  }

  test("streaming: the answer grows in one message, no faster than the platform takes edits, and ends whole (OUTBOX-5)", async () => {
    const { platform, owner, can } = stage;
    if (can.editMs === undefined) return;
    const { said, whole } = slowly("grown");
    await platform.say(owner, said);
    const seen = await watch("grown", whole);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(1);
    expect(seen.length).toBeGreaterThan(1);
    for (const [i, { text }] of seen.entries()) {
      expect(text.trim()).not.toBe("");
      if (i) expect(text.trim().startsWith(seen[i - 1]!.text.trim())).toBe(true);
    }
    // The last one is the answer itself and waits for nothing but the chat's own pace.
    const live = seen.slice(0, -1);
    const gaps = live.slice(1).map(({ at }, i) => at - live[i]!.at);
    for (const gap of gaps) expect(gap).toBeGreaterThan(can.editMs - SLACK_MS);
    await stage.settled("after-the-first-stream");
    expect(await about("grown")).toHaveLength(1);
  }, 90_000);

  test("streaming: killed while it is written, the answer ends whole, in one message (OUTBOX-7)", async () => {
    const { platform, owner, can, lares } = stage;
    if (can.editMs === undefined) return;
    const { said, whole } = slowly("interrupted");
    await platform.say(owner, said);
    // The second text is an edit: where the message is was known by then.
    const texts = new Set<string>();
    await until(
      "it to grow",
      async () => {
        for (const { text } of await about("interrupted")) texts.add(text);
        return texts.size > 1;
      },
      { withinMs: 60_000 },
    );
    await lares.kill9();
    await stage.restart();
    const seen = await watch("interrupted", whole);
    await stage.settled("after-the-second-stream");
    expect((await about("interrupted")).map((m) => m.text.trim())).toEqual([whole]);
    expect(seen.every(({ text }) => text.trim() !== "")).toBe(true);
  }, 120_000);

  test("streaming: killed before it is known where the first words are: whole, and in one message where the platform can tell", async () => {
    const { platform, owner, can, lares } = stage;
    if (can.editMs === undefined) return;
    const { said, whole } = slowly("lost-place");
    await lares.kill9();
    await stage.die("live.placed", () => platform.say(owner, said));
    await stage.restart();
    await watch("lost-place", whole);
    await stage.settled("after-the-third-stream");
    const left = (await about("lost-place")).map((m) => m.text.trim()).filter((text) => !NOTE.test(text));
    expect(left).toContain(whole);
    expect(left.length).toBeLessThanOrEqual(platform.has.dedupes ? 1 : 2);
  }, 120_000);

  test("removal: a line that only said what was being done goes from the platform when a question takes its place (OUTBOX-9)", async () => {
    const { platform, owner, can, lares } = stage;
    if (!can.does.includes("remove")) return;
    const set = (path: string, value: Json) => lares.rpc("config.set", { path, value });
    await set("outbox.progressAfterSeconds", 0.3);
    await set("policy.mode", "record");
    const held = heldCommand(lares.workspace(), "removal");
    const asks = callExec("echo later > later.txt");
    await platform.say(owner, `${callExec(held.command)} then: ${asks} then: say:removal is over`);
    await held.begun();
    const line = await until("the line", async () => (await about("Working: exec")).at(-1));
    await set("policy.mode", "ask");
    held.release();
    await until("the question", async () => (await about("later.txt")).length > 0);
    await until("the line to be gone", async () => (await platform.shown(owner)).every(({ id }) => id !== line.id), {
      instead: () => platform.shown(owner),
    });
    const { approvals } = await lares.rpc("approvals.list", {});
    const asked = approvals.find((one) => one.state === "pending" && one.shown.includes("later.txt"))!;
    await lares.rpc("approvals.resolve", { id: asked.id, decision: "deny" });
    await stage.shows("removal is over");
    await set("outbox.progressAfterSeconds", 10);
  }, 60_000);

  test("typing: while there is nothing to show, the chat shows that somebody types", async () => {
    const { platform, owner, can } = stage;
    if (!can.does.includes("typing")) return;
    const before = await platform.typed!();
    await platform.say(owner, "delay:1800 say:typed-for-a-while");
    await until("the sign of typing", async () => (await platform.typed!()) > before);
    await stage.shows("typed-for-a-while");
  });
}
