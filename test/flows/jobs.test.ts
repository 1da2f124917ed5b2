/** Jobs on the real program: scripts, conditions, chains, limits, alerts, and what is refused when it is made. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Params, Result } from "../../src/core/protocol/index.ts";
import {
  type FarSide,
  Lares,
  type RpcFailed,
  requestsWith,
  startFarSide,
  startModel,
  toolResults,
  until,
} from "../support/index.ts";

let model: Awaited<ReturnType<typeof startModel>>;
let far: FarSide;
let lares: Lares;
type Slot = Result<"schedule.history">["slots"][number];

beforeAll(async () => {
  [model, far] = await Promise.all([startModel(), startFarSide()]);
  lares = new Lares({
    env: model.env,
    config: {
      models: {
        default: "anthropic/scripted",
        providers: { anthropic: { models: { scripted: { price: { input: 1, output: 1 } } } } },
      },
      policy: { mode: "record" },
      agents: { asker: { policy: { mode: "ask" } } },
      channels: { webhook: { hook: { secret: far.secret, url: far.url, dedupes: true } } },
      schedules: [
        { name: "broken", cron: "61 * * * *", prompt: "x" },
        { name: "whole", cron: "0 3 1 1 *", prompt: "x" },
      ],
    },
  });
  await lares.start();
});
afterAll(async () => {
  await lares.dispose();
  await Promise.all([model.close(), far.close()]);
});

const deliver = (chat: string) => ({ channel: "webhook", account: "hook", chat });
const add = (job: Params<"schedule.add">) => lares.rpc("schedule.add", { every: "1 day", ...job });
const shown = (chat: string) => far.shown.filter((m) => m.chat === chat).map((m) => m.text);

/** Runs it and waits for the slot's end. */
async function run(name: string): Promise<Slot> {
  const { turn } = await lares.rpc("schedule.run", { id: name });
  return until(`the run of ${name} to end`, async () => {
    const { slots } = await lares.rpc("schedule.history", { id: name });
    return slots.find((slot) => slot.turn === turn && slot.endedAt !== undefined);
  });
}

describe("a script", () => {
  it("needs no model: what it prints is delivered, complaints are not, and nothing printed is silence (TURNS-10)", async () => {
    const before = model.requests.length;
    await add({ name: "talks", script: "echo hello; echo oops >&2", deliver: deliver("talks") });
    expect(await run("talks")).toMatchObject({ state: "done", output: "hello" });
    await add({ name: "silent", script: "true", deliver: deliver("silent") });
    expect(await run("silent")).toMatchObject({ state: "done" });
    await until("the delivery", () => shown("talks").length);
    expect(shown("talks")).toEqual(["hello"]);
    expect(shown("silent")).toEqual([]);
    expect(model.requests.length).toBe(before);
  });

  it("that ends badly is a failure, told once after the second, quiet until it changes, paused after five", async () => {
    await add({ name: "bad", script: "echo no disk >&2; exit 3", deliver: deliver("bad") });
    expect(await run("bad")).toMatchObject({ state: "failed", reason: expect.stringMatching(/exit code 3: no disk/) });
    expect(shown("bad")).toEqual([]);
    await run("bad");
    await until("the alert", () => shown("bad").length);
    await run("bad");
    await run("bad");
    expect(shown("bad")).toEqual([expect.stringMatching(/"bad" failed \(2 times in a row\).*exit code 3/)]);
    await lares.rpc("schedule.update", { id: "bad", script: "echo other >&2; exit 4" });
    await run("bad");
    await until("the second alert", () => shown("bad").length === 2);
    expect(shown("bad")[1]).toMatch(/exit code 4.*paused/);
    const job = (await lares.rpc("schedule.list", {})).jobs.find((one) => one.name === "bad");
    expect(job).toMatchObject({ enabled: false, failures: 5 });
  });

  it("passes the gate: it asks, waits, and 'always' lets the next one run", async () => {
    await add({ name: "asks", script: "echo yes", agent: "asker" });
    const { turn } = await lares.rpc("schedule.run", { id: "asks" });
    const asked = await until("the question", async () => {
      const { approvals } = await lares.rpc("approvals.list", {});
      return approvals.find((one) => one.turn === turn);
    });
    expect(asked.shown).toContain("echo yes");
    // Started again meanwhile, it does not ask a second time, and says what it waits for.
    await expect(lares.rpc("schedule.run", { id: "asks" })).rejects.toThrow(/is still waiting for your approval/);
    const code = (await lares.rpc("schedule.get", { id: "asks" })).last!.approval!;
    expect(asked.id.endsWith(code)).toBe(true);
    expect((await lares.rpc("schedule.history", { id: "asks" })).slots).toContainEqual(
      expect.objectContaining({ turn, state: "parked", approval: code }),
    );
    const { approvals } = await lares.rpc("approvals.list", {});
    expect(approvals.filter((one) => one.shown.includes("echo yes"))).toHaveLength(1);
    await lares.rpc("approvals.resolve", { id: asked.id, decision: "allow-always" });
    const slot = await until("the slot", async () =>
      (await lares.rpc("schedule.history", { id: "asks" })).slots.find((one) => one.turn === turn && one.endedAt),
    );
    expect(slot).toMatchObject({ state: "done", output: "yes" });
    expect(await run("asks")).toMatchObject({ state: "done", output: "yes" });
  });

  it("'always' also answers the same question of other runs, also when Lares dies right after it (APPROVALS-4)", async () => {
    const asks = async (name: string) => {
      await add({ name, script: "echo the same", agent: "asker" });
      return (await lares.rpc("schedule.run", { id: name })).turn;
    };
    const open = async () => (await lares.rpc("approvals.list", {})).approvals.filter((one) => one.state === "pending");
    const ended = (name: string) =>
      until(`${name} to end`, async () =>
        (await lares.rpc("schedule.history", { id: name })).slots.find((s) => s.endedAt),
      );
    for (const name of ["same-1", "same-2", "same-3"]) await asks(name);
    await add({ name: "other", script: "echo other", agent: "asker" });
    await lares.rpc("schedule.run", { id: "other" });
    const asked = await until("four questions", async () => ((await open()).length === 4 ? open() : undefined));
    await lares.restart({ LARES_CRASH_AT: "resume.committed" });
    const id = asked.find((one) => one.shown.includes("the same"))!.id;
    await lares.rpc("approvals.resolve", { id, decision: "allow-always" }).catch(() => {});
    await lares.gone;
    await lares.start({ LARES_CRASH_AT: "" });
    for (const name of ["same-1", "same-2", "same-3"]) expect(await ended(name)).toMatchObject({ output: "the same" });
    const [left, ...more] = await open();
    expect(left!.shown).toContain("echo other");
    expect(more).toEqual([]);
    await lares.rpc("approvals.resolve", { id: left!.id, decision: "deny" });
  });

  it("of a job that is removed is asked about no more, also when Lares dies right after: nothing runs (SCHEDULE-17)", async () => {
    const ask = async (name: string) => {
      await add({ name, script: `touch ran-${name}; echo ${name}`, agent: "asker" });
      const { turn } = await lares.rpc("schedule.run", { id: name });
      return until("the question", async () =>
        (await lares.rpc("approvals.list", {})).approvals.find((one) => one.turn === turn),
      );
    };
    const approve = (id: string) =>
      lares.rpc("approvals.resolve", { id, decision: "allow-once" }).then(
        () => "allowed",
        (failed: RpcFailed) => failed.error.message,
      );
    const stopped = (id: string) =>
      until("the turn to end", async () => {
        const { state } = await lares.rpc("turns.get", { turn: id });
        return state === "stopped" ? state : undefined;
      });
    const [gone, kept, killed] = [await ask("gone"), await ask("kept"), await ask("killed")];
    const done = await lares.rpc("schedule.remove", { id: "gone" });
    expect(done.withdrawn).toHaveLength(1);
    expect(gone.id.endsWith(done.withdrawn![0]!)).toBe(true);
    expect(await approve(gone.id)).toBe('This approval is no longer needed. The job "gone" was removed.');
    await stopped(gone.turn);
    await lares.restart({ LARES_CRASH_AT: "resume.committed" });
    await lares.rpc("schedule.remove", { id: "killed" }).catch(() => {});
    await lares.gone;
    await lares.start({ LARES_CRASH_AT: "" });
    expect(await approve(killed.id)).toMatch(/The job "killed" was removed/);
    await stopped(killed.turn);
    // It was not reported as removed, so it is removed again.
    expect(await lares.rpc("schedule.remove", { id: "killed" })).toEqual({ removed: true });
    const open = (await lares.rpc("approvals.list", {})).approvals.filter((one) => one.state === "pending");
    expect(open.map((one) => one.id)).toEqual([kept.id]);
    expect(await approve(kept.id)).toBe("allowed");
    await until("the kept one to run", async () =>
      (await lares.rpc("schedule.history", { id: "kept" })).slots.find((one) => one.output === "kept"),
    );
  });

  it("gets another job's output as a file, a prompt gets it as words", async () => {
    await add({ name: "source", script: "echo the figures" });
    await run("source");
    await add({ name: "reader", script: "cat .lares/jobs/reader.input", input: "source" });
    expect(await run("reader")).toMatchObject({ output: "the figures" });
    await add({ name: "thinker", prompt: "#thinker sum it up", input: "source" });
    await run("thinker");
    const [request] = requestsWith(model, "#thinker");
    expect(JSON.stringify(request!.messages)).toMatch(/Output of \\"source\\".*the figures/);
  });
});

describe("a run", () => {
  it("is asked first by its condition: no is a skipped slot with the reason and no model call (TURNS-9)", async () => {
    const condition = { script: "echo empty; test -s nothing" };
    await lares.rpc("schedule.add", { name: "if", prompt: "#if say:ran", at: Date.now(), condition });
    const slot = await until("the slot", async () =>
      (await lares.rpc("schedule.history", { id: "if" })).slots.find((one) => one.endedAt),
    );
    expect(slot).toMatchObject({ state: "skipped", reason: "Its condition wasn't met: empty." });
    expect(requestsWith(model, "#if")).toEqual([]);
  });

  it("that takes longer than it may is stopped and failed; model and thinking are its own", async () => {
    await add({ name: "slow", prompt: "#slow delay:20000 say:late", timeoutS: 1, thinking: "low" });
    expect(await run("slow")).toMatchObject({
      state: "failed",
      reason: expect.stringMatching(/longer than 1 second/),
    });
    expect(JSON.stringify(requestsWith(model, "#slow")[0])).toContain("thinking");
  });

  it("keeps to the job's budget, and cannot make jobs unless it may", async () => {
    await add({ name: "poor", prompt: "#poor say:done", budget: { calls: 1 } });
    expect(await run("poor")).toMatchObject({ state: "done" });
    expect(await run("poor")).toMatchObject({ state: "failed", reason: expect.stringMatching(/budget/) });
    const plan = `tool:schedule_add {"text":"again","in":"1 day"} then: say:{results}`;
    await add({ name: "breeds", prompt: `#breeds ${plan}` });
    expect((await run("breeds")).output).toMatch(/jobs can't create jobs/);
    // Nor does what works for one: the session of its run when a helper's result comes there.
    const { slots } = await lares.rpc("schedule.history", { id: "breeds" });
    const { session } = await lares.rpc("turns.get", { turn: slots.find((one) => one.turn)!.turn! });
    const { turn } = await lares.rpc("chat.send", { session, message: plan, wait: false });
    expect((await lares.rpc("turns.wait", { turn })).response).toMatch(/jobs can't create jobs/);
    // Nobody is asked for what would be refused anyway.
    await add({ name: "asks-to-breed", prompt: `#asks-to-breed ${plan}`, agent: "asker" });
    expect((await run("asks-to-breed")).output).toMatch(/jobs can't create jobs/);
    const forgets = `tool:tool_run {"name":"schedule_remove","input":{"name":"whole"}} then: say:{results}`;
    await add({ name: "forgets", prompt: `#forgets ${forgets}`, agent: "asker" });
    expect((await run("forgets")).output).toMatch(/You have no schedule "whole"/);
    await lares.rpc("schedule.update", { id: "breeds", mayPlan: true });
    expect((await run("breeds")).output).toMatch(/Scheduled as/);
    expect(toolResults(requestsWith(model, "#breeds").at(-1)!)).toHaveLength(1);
  });

  it("of a job that is deleted after it leaves no job; its session goes when its time is over, its cost stays", async () => {
    await add({ name: "one", prompt: "#one say:done", deleteAfterRun: true, keepHours: 0 });
    const { turn } = await lares.rpc("schedule.run", { id: "one" });
    const gone = async () => !(await lares.rpc("schedule.list", {})).jobs.some((one) => one.name === "one");
    await until("the job to go", gone);
    const { session } = await lares.rpc("turns.get", { turn });
    const spent = (await lares.rpc("status", {})).usageToday.inputTokens;
    await lares.restart();
    await until("the session to go", async () =>
      lares.rpc("sessions.get", { session }).then(
        () => false,
        () => true,
      ),
    );
    expect((await lares.rpc("status", {})).usageToday.inputTokens).toBe(spent);
  });
});

describe("from a chat", () => {
  it("a person's own zone holds for their reminders, over a kill, and for nobody else's", async () => {
    const say = async (user: string, text: string) => (await lares.chat(user, text)).response;
    expect(await say("ana", "/timezone Mars/Olympus")).toMatch(/isn't a time zone/);
    expect(await say("ana", "/timezone America/New_York")).toMatch(/Your time zone is now America\/New_York/);
    await lares.restart();
    expect(await say("ana", "/timezone")).toMatch(
      /^Your time zone is America\/New_York\. It is .*\(America\/New_York\)/,
    );
    expect(await say("ana", "/schedule every monday 9am: water")).toMatch(
      /Mondays 09:00, New York\. Next: Mon .*, 09:00 \(America\/New_York\)/,
    );
    const plan = `tool:schedule_add {"text":"drink","at":"tomorrow 9am"} then: say:{results}`;
    expect(await say("ana", plan)).toMatch(/09:00 \(America\/New_York\)/);
    expect(await say("ben", plan)).not.toMatch(/New_York/);
    expect(await say("ana", "/timezone default")).not.toMatch(/New_York/);
  });

  it("a reminder is put off in words", async () => {
    const say = async (text: string) => (await lares.chat("dozer", text)).response!;
    const [, name] = /"(doze-\w+)"/.exec(await say("/schedule in 2 hours: doze"))!;
    expect(await say(`/schedule snooze ${name} 3 hours`)).toMatch(/^Again: "doze-\w+", once, \w{3} \d/);
    // Ten minutes from now would come before its time.
    expect(await say(`/schedule snooze ${name}`)).toMatch(/isn't due until/);
    expect(await say(`/schedule snooze ${name} friday 9am`)).toMatch(/once, Fri .* 09:00/);
    expect((await lares.rpc("schedule.snooze", { id: name!, at: "tomorrow 9am" })).words).toMatch(/09:00/);
  });

  it("the agent changes, pauses and puts off its own jobs, and no others", async () => {
    const rare = (name: string, input: object) =>
      `tool:tool_run ${JSON.stringify({ name, input })} then: say:{results}`;
    const say = async (text: string) => (await lares.chat("keeper", text)).response!;
    const made = await say(`tool:schedule_add {"text":"feed the cat","every":"monday 9am"} then: say:{results}`);
    const name = /"(feed-the-cat-\w+)"/.exec(made)![1]!;
    const job = async () => (await lares.rpc("schedule.list", {})).jobs.find((one) => one.name === name);

    expect(await say(rare("schedule_update", { name, every: "friday 17:30", text: "feed both cats" }))).toMatch(
      /Changed "feed-the-cat-\w+": .*Fridays 17:30/,
    );
    expect(await job()).toMatchObject({ prompt: "feed both cats", enabled: true });
    await say(rare("schedule_update", { name, paused: true }));
    expect(await job()).toMatchObject({ enabled: false });
    await say(rare("schedule_update", { name, paused: false }));
    expect(await job()).toMatchObject({ enabled: true });
    expect(await say(rare("schedule_snooze", { name, in: "3 hours" }))).toMatch(/runs again, once, /);
    // Its own time is untouched by that.
    expect((await job())!.words).toMatch(/Fridays 17:30/);

    expect(await say(rare("schedule_update", { name, every: "whenever" }))).toMatch(/whenever/);
    expect(await say(rare("schedule_snooze", { name, in: "later" }))).toMatch(/later/);
    expect(await say(rare("schedule_update", { name, in: "1 day", every: "monday 9am" }))).toMatch(/one of/i);
    for (const tool of ["schedule_update", "schedule_snooze"]) {
      expect(await say(rare(tool, { name: "nobody", in: "1 hour" }))).toMatch(/no schedule "nobody"/);
    }
    expect(await job()).toMatchObject({ prompt: "feed both cats", enabled: true });
  });

  it("config.check names declared jobs that cannot work", async () => {
    const { ok, problems } = await lares.rpc("config.check", {});
    expect(ok).toBe(false);
    expect(problems).toMatchObject([{ message: expect.stringMatching(/"broken": .*isn't a cron expression/) }]);
  });

  it("/schedule plans in the person's words, pauses and removes", async () => {
    const say = async (text: string) => (await lares.chat("planner", text)).response;
    expect(await say("/schedule tomorrow 9am: water the plants")).toMatch(
      /^Scheduled as "water-the-plants-\w+", once, /,
    );
    const name = /^water-the-plants-\w+/m.exec((await say("/schedule"))!)![0];
    expect(await say(`/schedule pause ${name}`)).toMatch(/^Paused/);
    expect(await say("/schedule whenever: x")).toMatch(/can't read "whenever" as a time.*tomorrow 9am/);
    expect(await say(`/schedule remove ${name}`)).toMatch(/Removed/);
  });
});

describe("what makes no sense is refused when it is made, with an example", () => {
  it.each<[Params<"schedule.add">, RegExp]>([
    [{ prompt: "x", cron: "0 25 * * *" }, /isn't a cron expression.*0 7/s],
    [{ prompt: "x", at: "2020-01-01" }, /past.*in 30 minutes/s],
    [{ prompt: "x", every: "1 day", zone: "Mars/Base" }, /isn't a time zone.*Europe\/Lisbon/s],
    [{ prompt: "x", every: "1 day", deliver: { channel: "fax", account: "a", chat: "c" } }, /fax.*channels list/s],
    [{ prompt: "x", every: "1 day", agent: "nobody" }, /no agent.*main/s],
    [{ prompt: "x", every: "1 day", model: "nowhere/x" }, /can't be used.*anthropic/s],
    [{ prompt: "x", every: "1 day", input: "nothing" }, /no job "nothing"/],
    [{ prompt: "x", script: "y", every: "1 day" }, /a prompt and a script/],
    [{ every: "1 day" }, /nothing to do.*Summarise/s],
    [{ script: "x", every: "1 day", timeoutS: 601 }, /600 seconds/],
    [{ prompt: "x", every: "1 day", condition: { changed: "../../lares.yaml" } }, /leads out/],
    [{ prompt: "\u200b", every: "1 day" }, /prompt: has no words/],
    [{ prompt: "x", cron: "0 7 * * *", anchor: "07:00" }, /anchor only works together with every/],
  ])("%j", async (given, words) => {
    const error = await lares.rpc("schedule.add", given).catch((failed: RpcFailed) => failed.error);
    expect(`${(error as { message: string }).message} ${(error as { hint?: string }).hint ?? ""}`).toMatch(words);
  });

  it("one such job in lares.yaml is said, and the others are there", async () => {
    const { problems } = await lares.rpc("status", {});
    expect(problems.join()).toMatch(/"broken".*isn't a cron expression/);
    expect((await lares.rpc("schedule.list", {})).jobs.map((job) => job.name)).toContain("whole");
  });
});
