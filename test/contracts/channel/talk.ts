/** What people do besides writing: threads, edits, reactions, deletions. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { directiveScript } from "../../fakes/model-server/index.ts";
import { callExec, requestsWith, until, userTexts } from "../../support/index.ts";
import { pretend } from "../../support/pretend.ts";
import { ACKNOWLEDGED, type Stage } from "./stage.ts";

export function talkSection(stage: Stage): void {
  test("threads: an answer goes to the thread it was asked in, and each thread is a conversation of its own", async () => {
    const { platform, owner, model, can } = stage;
    if (!can.hears.includes("threads")) return;
    const { start, say, shown } = platform.threads!;
    const [one, two] = [await start(), await start()];
    const shows = (thread: string, text: string) =>
      until(`"${text}" in the thread`, async () => (await shown(thread)).some((m) => m.text.includes(text)), {
        withinMs: 30_000,
        instead: () => shown(thread),
      });
    await say(owner, one, "say:said-in-one");
    await shows(one, "said-in-one");
    await say(owner, two, "say:said-in-two");
    await shows(two, "said-in-two");
    await say(owner, one, "say:again-in-one");
    await shows(one, "again-in-one");
    expect((await shown(two)).map((m) => m.text).join("\n")).not.toContain("in-one");
    expect((await shown(one)).map((m) => m.text).join("\n")).not.toContain("in-two");
    const [inTwo] = requestsWith(model, "said-in-two");
    const [again] = requestsWith(model, "again-in-one");
    expect(userTexts(inTwo!).join("\n")).not.toContain("said-in-one");
    expect(userTexts(again!).join("\n")).toContain("said-in-one");
    expect(userTexts(again!).join("\n")).not.toContain("said-in-two");
  });

  test("edits: a changed message is read as changed, once", async () => {
    const { platform, owner, model, can } = stage;
    if (!can.hears.includes("edits")) return;
    const message = await platform.say(owner, "say:first-version");
    await stage.shows("first-version");
    await platform.edit!(owner, message, "say:second-version");
    await stage.shows("second-version");
    await stage.settled("after-the-edit");
    expect(await stage.count("second-version")).toBe(1);
    expect(requestsWith(model, "say:second-version").length).toBeGreaterThan(0);
  });

  test("reactions: a person's reaction answers a question, and elsewhere changes nothing", async () => {
    const { platform, owner, model, can, lares } = stage;
    if (!can.hears.includes("reactions")) return;
    await stage.exchange("nothing-to-decide");
    const ordinary = (await platform.shown(owner)).find((m) => m.text.includes("nothing-to-decide"))!;
    const before = model.requests.length;
    await stage.heard(() => platform.react!(owner, ordinary, "👍"));
    await platform.say(owner, `${callExec("echo reacted > reacted.txt")} then: say:reacted-and-done`);
    const question = await until("the question", async () =>
      (await platform.shown(owner)).find((m) => m.text.includes("reacted.txt")),
    );
    await stage.quiet();
    expect(model.requests.length - before).toBe(1);
    expect(existsSync(join(lares.workspace(), "reacted.txt"))).toBe(false);
    await platform.react!(owner, question, "👍");
    await stage.shows("reacted-and-done");
    expect(existsSync(join(lares.workspace(), "reacted.txt"))).toBe(true);
  });

  test("reactions: a message carries ours while it is worked on; it is taken back with the answer, also after a kill (INTAKE-7)", async () => {
    const { platform, owner, can, model, lares } = stage;
    if (!can.does.includes("react")) return;
    const on = (message: string) => platform.reactions!(message);
    const held = holding(stage, "hold the sign");
    const message = await platform.say(owner, "hold the sign");
    const look = { withinMs: 15_000, instead: () => on(message) };
    await until("the reaction", async () => (await on(message)).now.includes(ACKNOWLEDGED), look);
    held.release();
    await stage.shows("hold the sign: done");
    await until("it to be taken back", async () => (await on(message)).now.length === 0, look);
    expect((await on(message)).ever).toEqual([ACKNOWLEDGED]);

    const again = holding(stage, "hold it longer");
    const second = await platform.say(owner, "hold it longer");
    await until("the reaction", async () => (await on(second)).now.includes(ACKNOWLEDGED), look);
    await lares.kill9();
    again.release();
    await stage.restart();
    await stage.shows("hold it longer: done");
    await until("it to be taken back", async () => (await on(second)).now.length === 0, {
      withinMs: 15_000,
      instead: () => on(second),
    });
    model.use(directiveScript());
  }, 120_000);

  test("deletions: a message that is deleted while it waits is not answered; deleting an answered one changes nothing", async () => {
    const { platform, owner, model, can } = stage;
    if (!can.hears.includes("deletions")) return;
    const held = holding(stage, "hold the line");
    await platform.say(owner, "hold the line");
    await until("the model to be asked", () => requestsWith(model, "hold the line").length > 0);
    let gone = "";
    await stage.heard(async () => {
      gone = await platform.say(owner, "say:deleted-in-time");
    });
    await stage.heard(() => platform.delete!(owner, gone));
    held.release();
    await stage.shows("hold the line: done");
    model.use(directiveScript());
    await stage.settled("after-the-deleted-one");
    expect(await stage.count("deleted-in-time")).toBe(0);
    expect(requestsWith(model, "deleted-in-time")).toEqual([]);

    const answered = await platform.say(owner, "say:answered-then-deleted");
    await stage.shows("answered-then-deleted");
    const shown = (await platform.shown(owner)).length;
    const asked = model.requests.length;
    await stage.heard(() => platform.delete!(owner, answered));
    expect([(await platform.shown(owner)).length, model.requests.length]).toEqual([shown, asked]);
    await stage.settled("after-an-answered-one-was-deleted");
  });
}

/** The model answers this message when it is told to. */
function holding(stage: Stage, text: string): { release(): void } {
  const script = directiveScript();
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  stage.model.use(async (request) => {
    if (!userTexts(pretend(request)).at(-1)?.includes(text)) return script(request);
    await released;
    return { text: `${text}: done` };
  });
  return { release: () => release() };
}
