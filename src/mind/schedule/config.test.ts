import { expect, test } from "vitest";
import { adviseSchedules, inputsFirst, schedulesConfig } from "./config.ts";

test("declared jobs are judged without being made: time, zone, name, work and delivery, each in a sentence", () => {
  const jobs = schedulesConfig.parse([
    { name: "good", cron: "0 7 * * 1-5", prompt: "x", deliver: { channel: "webhook", account: "hook", chat: "me" } },
    { name: "good", every: "monday 9am", prompt: "x" },
    { name: "cron", cron: "61 * * * *", prompt: "x" },
    { name: "never", cron: "0 0 31 2 *", prompt: "x" },
    { name: "words", every: "blue moon", prompt: "x" },
    { name: "no time", prompt: "x" },
    { name: "no work", every: "1 day" },
    { name: "nobody", every: "1 day", prompt: "x", agent: "ghost" },
    { name: "somebody", every: "1 day", prompt: "x", agent: "main" },
    { name: "off", every: "1 day", prompt: "x", deliver: { channel: "telegram", account: "main", chat: "c" } },
    { name: "nowhere", every: "1 day", prompt: "x", deliver: { channel: "fax", account: "a", chat: "c" } },
  ]);
  const at = {
    now: Date.parse("2026-11-15T10:00:00Z"),
    zone: "Europe/Berlin",
    isAgent: (agent: string) => agent === "main",
    whyUnreachable: ({ channel }: { channel: string }) =>
      channel === "webhook" ? undefined : channel === "telegram" ? ("off" as const) : ("unknown" as const),
  };
  const advice = adviseSchedules(jobs, at);
  expect(advice.filter(({ weight }) => weight !== "never")).toHaveLength(3);
  expect(advice.map(({ message }) => message)).toEqual([
    expect.stringMatching(/"good": Another job has the same name/),
    expect.stringMatching(/"cron": "61 .*" isn't a cron expression/),
    expect.stringMatching(/"never": .*never comes/),
    expect.stringMatching(/"words": Lares can't read "blue moon" as how often something happens/),
    expect.stringMatching(/"no time": No time is given/),
    expect.stringMatching(/"no work": Give either a prompt or a script/),
    expect.stringMatching(/"nobody": There is no agent "ghost"/),
    '"off": Nothing can be delivered to telegram/main: it is off. Switch it on: lares config set channels.telegram.main.enabled true',
    expect.stringMatching(/"nowhere": Nothing can be delivered to fax\/a: it isn't set up/),
  ]);
});

test("an input has to be there: in the file, wherever it stands, or added by a command, which only the running program knows", () => {
  const jobs = schedulesConfig.parse(
    ["late", "cli", "self", "gone", "job_1"].map((input) => ({
      name: input === "self" ? "self" : `of ${input}`,
      every: "1 day",
      prompt: "x",
      input,
    })),
  );
  const late = schedulesConfig.parse([{ name: "late", every: "1 day", prompt: "x", input: "of late" }]);
  const all = [...jobs, ...late];
  const at = { now: 0, zone: "UTC", isAgent: () => true, whyUnreachable: () => undefined };
  expect(adviseSchedules(all, { ...at, others: ["cli", "job_1"] })).toEqual([
    { message: '"of gone": There is no job "gone" whose output this one could get. See: lares schedule list' },
  ]);
  expect(adviseSchedules(all, at).map(({ message, weight }) => [message.split(":")[0], weight])).toEqual([
    ['"of cli"', "note"],
    ['"of gone"', "note"],
    ['"of job_1"', "note"],
  ]);
  const order = inputsFirst(
    schedulesConfig.parse([
      { name: "c", every: "1 day", prompt: "x", input: "b" },
      { name: "b", every: "1 day", prompt: "x", input: "a" },
      { name: "a", every: "1 day", prompt: "x" },
    ]),
  );
  expect(order.map(({ name }) => name)).toEqual(["a", "b", "c"]);
});
