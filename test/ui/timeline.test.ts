/** The timeline shows how each step ended, by the field that says so and not by the words of its result. */

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readStepName } from "../../src/core/domain/index.ts";
import { isWork, type TurnFacts, toRows } from "../../ui/src/lib/timeline.ts";
import type { Reply } from "../fakes/model-server/index.ts";
import { startModel } from "../support/index.ts";
import { pretend } from "../support/pretend.ts";
import { complaints, needsBrowser, startBrowser, startInstance, type TestInstance } from "./support.ts";

type Step = TurnFacts["steps"][number];

describe("rows", () => {
  const step = (name: string, outcome: Step["outcome"], more: Partial<Step> = {}): Step => ({
    ...{
      segment: 0,
      index: 0,
      kind: "step",
      name,
      does: readStepName(name),
      state: "done",
      at: 1,
      endedAt: 2,
      outcome,
    },
    ...more,
  });
  const rows = (steps: Step[], over: Partial<TurnFacts> = {}) =>
    toRows(pretend<TurnFacts>({ steps, approvals: [], acceptedAt: 0, endedAt: 9, ...over }), 10);

  test.each([
    ["ok", "done"],
    ["failed", "failed"],
    ["denied", "denied"],
    ["cut", "cut"],
    ["unknown", "unknown"],
    // The turn is over and nobody knows how this went.
    ["open", "unknown"],
  ] as const)("a step that ended as %s is shown as %s", (outcome, state) => {
    const [row] = rows([step("tool:exec:c1", outcome, { reason: "why" })]);
    expect(row).toMatchObject({ kind: "tool", name: "exec", call: "c1", state, reason: "why", open: false });
  });

  test("an open step of a turn that goes on is running", () => {
    const { endedAt: _, ...intended } = step("tool:exec:c1", "open", { state: "intent" });
    const [row] = toRows(pretend<TurnFacts>({ steps: [intended], approvals: [], acceptedAt: 0 }), 10);
    expect(row).toMatchObject({ state: "running", open: true, end: 10 });
  });

  test("a judgement is shown where it said no, and is no work", () => {
    const all = rows([step("judge:0", "ok"), step("judge:1", "denied", { reason: "outside" })]);
    expect(all).toMatchObject([{ kind: "gate", state: "denied", reason: "outside" }]);
    expect(all.filter(isWork)).toEqual([]);
  });
});

const exec = (command: string): Reply => ({ toolCalls: [{ name: "exec", input: { command } }] });
const REPLIES: Reply[] = [
  exec("exit 3"),
  exec("echo 'Not allowed: these are only words'"),
  { toolCalls: [{ name: "write", input: { path: "/etc/lares-was-here", content: "x" } }] },
  { text: "" },
  { text: "This answer ends in the mid", finish: "length" },
];

describe.skipIf(!needsBrowser("the timeline"))("a turn with steps that went wrong", () => {
  let browser: Browser;
  let instance: TestInstance;
  let model: Awaited<ReturnType<typeof startModel>>;

  beforeAll(async () => {
    model = await startModel();
    let call = 0;
    model.use(() => REPLIES[call++ % REPLIES.length]!);
    [browser, instance] = await Promise.all([startBrowser(), startInstance(model.env)]);
    await instance.rpc("config.set", { path: "policy.mode", value: "record" });
  });
  afterAll(async () => {
    await browser?.close();
    await instance?.dispose();
    await model?.close();
  });

  test("only what went well has a tick, on the turn's page and in the conversation", async () => {
    const { turn, session } = await instance.rpc("chat.send", { message: "Try a few things", user: "ana" });
    const storageState = await instance.signIn(browser);
    for (const width of [1280, 390]) {
      const context = await browser.newContext({ viewport: { width, height: 800 }, storageState });
      const page = await context.newPage();
      const wrong = complaints(page);
      await page.goto(`${instance.url}/turns/${turn}`);
      const rows = page.locator(".timeline .row");
      await rows.nth(7).waitFor();
      const marks = await rows.evaluateAll((all) =>
        all.map(
          (row) =>
            `${row.querySelector(".name")?.textContent?.split("\u00a0")[0]} ${row.querySelector(".glyph")?.firstChild?.textContent}`,
        ),
      );
      expect(marks).toEqual([
        ...["model ✓", "exec ✕", "model ✓", "exec ✓", "model ✓", "not allowed –", "model ✕", "model …"],
      ]);
      await rows.nth(6).click();
      await page.getByText("The model gave an empty answer.").waitFor();
      await page.goto(`${instance.url}/chat/${encodeURIComponent(session)}`);
      const log = page.locator("[role=log]");
      await log
        .getByText(/answered/)
        .first()
        .waitFor();
      const tools = log.locator(".tool .glyph");
      await expect
        .poll(() => tools.evaluateAll((all) => all.map((g) => g.firstChild?.textContent)))
        .toEqual(["✕", "✓", "–"]);
      expect(wrong).toEqual([]);
      await context.close();
    }
  });
});
