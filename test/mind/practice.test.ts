/** The practice model without any key: it answers with what it was told, and there are plain words for every built-in tool. */
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { RULES } from "../../src/edges/models/practice/rules.ts";
import { RARE_TOOLS } from "../../src/edges/tools/index.ts";
import { until } from "../support/index.ts";
import { type Rig, sessionOf, startRig } from "./rig.ts";

let rig: Rig;
/** What the practice model is offered: read off its own request. */
let offered: string[];
beforeAll(async () => {
  rig = await startRig({
    start: Date.parse("2026-11-15T22:30:00Z"),
    config: {
      models: { default: "practice/practice" },
      policy: { mode: "ask" },
      time: { zone: "Europe/Berlin" },
      gateway: { http: { wait: 0.2 } },
      web: { search: { provider: "searxng", baseUrl: "http://127.0.0.1:9" } },
    },
  });
  await rig.chat("list", "hello");
  const { parts } = await rig.rpc("context.request", { session: sessionOf("list") });
  offered = parts.flatMap((part) => (part.kind === "tool" ? [part.name!] : []));
});
afterAll(() => rig?.stop());

const reply = async (user: string, text: string) => (await rig.chat(user, text)).response;

describe("it answers with what it was told", () => {
  it("says time, day and tomorrow's date in the owner's zone, from the line before the message", async () => {
    expect(await reply("when", "what time is it?")).toContain("It is 23:30 (Europe/Berlin)");
    expect(await reply("when", "which day is it?")).toContain("Today is Sunday, 2026-11-15.");
    expect(await reply("when", "what date is tomorrow?")).toContain("Tomorrow is Monday, 2026-11-16.");
    rig.clock.set("2026-11-15T23:05:00Z");
    expect(await reply("when", "what time is it?")).toContain("It is 00:05 (Europe/Berlin)");
    expect(await reply("when", "what day is it?")).toContain("Today is Monday, 2026-11-16.");
  });

  it("says who speaks and where, and stays labelled", async () => {
    expect(await reply("who", "who am I?")).toMatch(/^You are the owner\. I am the practice model/);
    expect(await reply("who", "where are we?")).toMatch(/You are the agent main\. Chat: a program over HTTP/);
    const { practice } = await rig.chat("who", "what time is it?");
    expect(practice).toBe(true);
  });

  it("does not make up what it was not told", async () => {
    const answer = await rig.post<{ choices: { message: { content: string } }[] }>("/v1/chat/completions", {
      model: "lares/main",
      messages: [
        { role: "system", content: "You are a clock." },
        { role: "user", content: "what time is it?" },
      ],
    });
    expect(answer.choices[0]!.message.content).toContain("I wasn't told");
  });
});

describe("plain words", () => {
  test("there are some for every built-in tool, and none for a tool that isn't there", () => {
    const builtIn = [...offered, ...RARE_TOOLS];
    const missing = builtIn.filter((tool) => !RULES.some((rule) => rule.tool === tool));
    expect(missing).toEqual([]);
    expect(offered).toEqual(expect.arrayContaining(["read", "exec", "web_search", "message", "process", "tool_run"]));
    const ends = ["heartbeat_quiet", "stay_silent", "nothing_to_report"];
    expect(RULES.filter(({ tool }) => !builtIn.includes(tool) && !ends.includes(tool))).toEqual([]);
  });

  const examples = RULES.map(({ tool, example }) => [example, tool] as const);
  test.each(examples)("%s → %s, with an input the tool takes", async (example, tool) => {
    if (!offered.includes(tool) && !RARE_TOOLS.includes(tool)) return;
    const user = `words-${examples.findIndex(([one]) => one === example)}`;
    const { turn } = await rig.chat(user, example);
    const session = sessionOf(user);
    const call = await until("the call", async () => {
      const { messages } = await rig.rpc("chat.history", { session, limit: 10 });
      return messages.flatMap((m) => m.content).find((part) => part.type === "tool-call");
    });
    const called = call.name === "tool_run" && tool !== "tool_run" ? (call.input as { name: string }).name : call.name;
    expect(called).toBe(tool);
    const { messages } = await rig.rpc("chat.history", { session, limit: 10 });
    const results = messages.flatMap((m) => m.content).filter((part) => part.type === "tool-result");
    for (const { text } of results)
      expect(text).not.toMatch(/unknown field|missing field|needs the field|must be|no tool/i);
    await rig.rpc("chat.abort", { turn }).catch(() => {});
  });
});
