/** The practice model answers with what it was told in the request: time, speaker, place. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Rig, startRig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({
    start: Date.parse("2026-11-15T22:30:00Z"),
    config: {
      models: { default: "practice/practice" },
      time: { zone: "Europe/Berlin" },
    },
  });
});
afterAll(() => rig?.stop());

const reply = async (user: string, text: string) => (await rig.chat(user, text)).response;

describe("it answers with what it was told", () => {
  it("says time, day and tomorrow's date in the owner's zone, from the line before the message", async () => {
    expect(await reply("when", "what time is it?")).toContain("It is 23:30 (Europe/Berlin)");
    expect(await reply("when", "hi, can you tell me the time and today's date?")).toMatch(
      /^It is 23:30 \(Europe\/Berlin\).* Today is Sunday, 2026-11-15\./,
    );
    expect(await reply("when", "which day is it?")).toContain("Today is Sunday, 2026-11-15.");
    expect(await reply("when", "what date is tomorrow?")).toContain("Tomorrow is Monday, 2026-11-16.");
    rig.clock.set("2026-11-15T23:05:00Z");
    expect(await reply("when", "what time is it?")).toContain("It is 00:05 (Europe/Berlin)");
    expect(await reply("when", "what day is it?")).toContain("Today is Monday, 2026-11-16.");
  });

  it("says who speaks and where, and stays labelled", async () => {
    expect(await reply("who", "who am I?")).toMatch(/^You are the owner\. I am the practice model/);
    expect(await reply("who", "where are we?")).toMatch(/You are the agent main\. Chat: a program over HTTP/);
    expect(await reply("who", "where are we?")).toMatch(/\S\nI am the practice model/);
    expect(await reply("who", "where are we and what time is it?")).toMatch(
      /\S\nIt is \d\d:\d\d .*\nI am the practice model/,
    );
    const both = await reply("who", "Who am I, and where are we?");
    expect(both).toMatch(/^You are the owner\. Here's what I know:\nYou are the agent main\. Chat: /);
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
