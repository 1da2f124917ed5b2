/** A turn that must ask: parked durably, answered once, from anywhere, over restarts; expiry means no (I8, I9). */
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  callExec,
  type Lares,
  PROGRAM,
  RpcFailed,
  requestsWith,
  sendHook,
  startFarSide,
  startLares,
  startModel,
  toolResults,
  until,
} from "../support/index.ts";

const QUICK = { gateway: { http: { wait: 0.05 } } };

let model: Awaited<ReturnType<typeof startModel>>;
let lares: Lares;
beforeAll(async () => {
  model = await startModel();
  lares = await startLares({ env: model.env, config: QUICK });
});
afterAll(async () => {
  await lares?.dispose();
  await model?.close();
});

async function cli(...args: string[]): Promise<string> {
  const env = { PATH: process.env.PATH ?? "", HOME: lares.home, LARES_TOKEN: lares.token, LARES_COMMAND: "lares" };
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...args, "--home", lares.home], { env });
  return stdout;
}

const witness = (name: string) => join(lares.workspace(), name);
const lines = (name: string) =>
  existsSync(witness(name)) ? readFileSync(witness(name), "utf8").split("\n").filter(Boolean) : [];

const asked = (user: string) => `#${user} ${callExec(`echo ran >> ${user}.txt`)} then: say:after: {results}`;

/** Asks for a command that leaves one line in `name`. The turn is parked when this resolves. */
async function ask(user: string, options: { key?: string; at?: Lares } = {}) {
  const at = options.at ?? lares;
  const answer = await at.chat(user, asked(user), {
    ...(options.key ? { key: options.key } : {}),
  });
  expect(answer).toMatchObject({ status: 202, state: "parked" });
  expect(answer.headers.get("x-lares-state")).toBe("parked");
  return answer;
}

describe("a parked turn", () => {
  it("is answered with 202 and the approval: what exactly would run", async () => {
    const parked = await ask("p1");
    expect(parked.approval).toMatchObject({
      state: "pending",
      tool: "exec",
      turn: parked.turn,
      session: parked.session,
    });
    expect(parked.approval!.shown).toContain("echo ran >> p1.txt");
    expect(parked.response).toContain(parked.approval!.id);
    expect(lines("p1.txt")).toEqual([]);
    const { approvals } = await lares.rpc("approvals.list", { session: parked.session });
    expect(approvals.map((a) => a.id)).toEqual([parked.approval!.id]);
    const status = await lares.rpc("status", {});
    expect(status.turns.parked).toBeGreaterThan(0);
    expect(status.approvals.pending).toBeGreaterThan(0);
  });

  it("over /v1 is a sentence that names the approval, and a header", async () => {
    const { status, headers, json } = await lares.request("POST", "/v1/chat/completions", {
      body: { model: "lares", user: "p2", messages: [{ role: "user", content: callExec("echo x") }] },
    });
    expect(status).toBe(200);
    expect(headers.get("x-lares-state")).toBe("parked");
    const { approvals } = await lares.rpc("approvals.list", {});
    const mine = approvals.find((a) => a.turn === headers.get("x-lares-turn"))!;
    expect(JSON.stringify(json.choices)).toContain(mine.id);
  });

  it("lets the session go on talking meanwhile, with a whole history", async () => {
    const parked = await ask("p3", { key: "p3-key" });
    const meanwhile = await lares.chat("p3", "say:still here");
    expect(meanwhile).toMatchObject({ status: 200, state: "answered", response: "still here" });
    const [request] = requestsWith(model, "say:still here");
    expect(JSON.stringify(request!.messages)).toMatch(/Waiting for a person's approval/);
    await lares.rpc("approvals.resolve", { id: parked.approval!.id, decision: "allow-once" });
    const end = await until("the answer", async () => {
      const again = await lares.chat("p3", asked("p3"), { key: "p3-key" });
      return again.state === "answered" ? again : undefined;
    });
    expect(end.turn).toBe(parked.turn);
    expect(end.duplicate).toBe(true);
    expect(lines("p3.txt")).toEqual(["ran"]);
  });
});

describe("the answer", () => {
  it("allow once: it runs once, the model sees the outcome, the same key returns the final answer", async () => {
    const parked = await ask("a1", { key: "a1-key" });
    const resolved = await lares.rpc("approvals.resolve", { id: parked.approval!.id, decision: "allow-once" });
    expect(resolved).toMatchObject({ state: "allowed" });
    expect(resolved.answeredBy).toBeTruthy();
    const end = await lares.rpc("turns.wait", { turn: parked.turn });
    expect(end.state).toBe("answered");
    expect(end.response).toMatch(/^after: \[exit 0/);
    expect(lines("a1.txt")).toEqual(["ran"]);
    const again = await lares.chat("a1", asked("a1"), { key: "a1-key" });
    expect(again).toMatchObject({ status: 200, turn: parked.turn, response: end.response, duplicate: true });
    // Once is once: the same call asks again.
    expect((await lares.chat("a1", `${callExec("echo ran >> a1.txt")} then: say:x`)).state).toBe("parked");
    expect(lines("a1.txt")).toEqual(["ran"]);
  });

  it("always: the same command runs without asking until the rule is forgotten on the command line, then it asks again", async () => {
    const command = `${callExec("echo ran >> a9.txt")} then: say:x`;
    const parked = await ask("a9");
    await lares.rpc("approvals.resolve", { id: parked.approval!.id, decision: "allow-always" });
    await lares.rpc("turns.wait", { turn: parked.turn });
    expect((await lares.chat("a9", command)).state).toBe("answered");
    expect(lines("a9.txt")).toEqual(["ran", "ran"]);
    const said = await cli("policy", "rules");
    const [, id] = /^\s*(\w{6})\s.*a9\.txt/m.exec(said)!;
    expect(await cli("policy", "forget", id!)).toContain("a9.txt");
    expect(await cli("policy", "rules")).not.toContain("a9.txt");
    const again = await lares.chat("a9", command);
    expect(again).toMatchObject({ state: "parked" });
    // Also after a restart, and in another conversation.
    await lares.restart();
    expect((await lares.chat("a9b", command)).state).toBe("parked");
    expect(lines("a9.txt")).toEqual(["ran", "ran"]);
  });

  it("deny: it does not run, the model gets the reason", async () => {
    const parked = await ask("a2");
    await lares.rpc("approvals.resolve", { id: parked.approval!.id, decision: "deny", reason: "not on a Sunday" });
    const end = await lares.rpc("turns.wait", { turn: parked.turn });
    expect(end.state).toBe("answered");
    const last = requestsWith(model, "#a2").at(-1)!;
    expect(toolResults(last).at(-1)!.text).toMatch(/Denied[\s\S]*not on a Sunday/);
    expect(lines("a2.txt")).toEqual([]);
  });

  it("counts once: later answers are refused, regardless of what they say (APPROVALS-2)", async () => {
    const parked = await ask("a3");
    const { id } = parked.approval!;
    const tries = await Promise.allSettled([
      lares.rpc("approvals.resolve", { id, decision: "deny" }),
      lares.rpc("approvals.resolve", { id, decision: "allow-once" }),
    ]);
    expect(tries.map((t) => t.status).sort()).toEqual(["fulfilled", "rejected"]);
    const later = await lares.rpc("approvals.resolve", { id, decision: "allow-once" }).catch((e: unknown) => e);
    expect(later).toBeInstanceOf(RpcFailed);
    expect(later).toMatchObject({ status: 409, error: { code: "ALREADY_ANSWERED" } });
    const won = tries.find((t) => t.status === "fulfilled")!;
    await lares.rpc("turns.wait", { turn: parked.turn });
    expect(lines("a3.txt")).toHaveLength(won.value.state === "allowed" ? 1 : 0);
  });

  it("to an approval that does not exist is 404", async () => {
    const error = await lares.rpc("approvals.resolve", { id: "ap_nothing", decision: "deny" }).catch((e: unknown) => e);
    expect(error).toMatchObject({ status: 404, error: { code: "NOT_FOUND" } });
  });

  it("allow always: the same action runs without asking, another one asks", async () => {
    const command = "echo ran >> always.txt";
    const first = await lares.chat("a4", `${callExec(command)} then: say:one`);
    await lares.rpc("approvals.resolve", { id: first.approval!.id, decision: "allow-always" });
    await lares.rpc("turns.wait", { turn: first.turn });
    const second = await lares.chat("a4-other-session", `${callExec(command)} then: say:two`);
    expect(second).toMatchObject({ status: 200, state: "answered", response: "two" });
    expect(lines("always.txt")).toEqual(["ran", "ran"]);
    expect((await lares.chat("a4", `${callExec(`${command}x`)} then: say:no`)).state).toBe("parked");
    // Remembered means kept.
    await lares.restart();
    expect(await lares.chat("a4", `${callExec(command)} then: say:three`)).toMatchObject({ response: "three" });
  });

  it("allow always: every agent that waited reads who allowed it and that it lasts, and no words that nobody said", async () => {
    const command = "echo ran >> alongside.txt";
    const call = (word: string) => `#${word}# ${callExec(command)} then: say:done`;
    const first = await lares.chat("a4-first", call("first-asked"));
    const second = await lares.chat("a4-second", call("asked-alongside"));
    // After another request has read the interim result, the outcome comes as a message with its label.
    for (const user of ["a4-first", "a4-second"]) await lares.chat(user, "say:meanwhile");
    await lares.rpc("approvals.resolve", { id: first.approval!.id, decision: "allow-always" });
    for (const { turn } of [first, second]) await lares.rpc("turns.wait", { turn });
    for (const word of ["#first-asked#", "#asked-alongside#"]) {
      const read = JSON.stringify(requestsWith(model, word).at(-1)!.messages);
      expect(read).toContain("Allowed by owner, from now on without asking.");
      expect(read).not.toContain("They said");
    }
    expect(lines("alongside.txt")).toEqual(["ran", "ran"]);
  });

  it("by a word in the chat: /approve and /deny with the code", async () => {
    const parked = await ask("a5");
    const code = parked.approval!.id.slice(-6);
    expect((await lares.chat("a5", `/approve ${code}`)).response).toMatch(/Allowed/);
    expect((await lares.rpc("turns.wait", { turn: parked.turn })).state).toBe("answered");
    expect(lines("a5.txt")).toEqual(["ran"]);
    const other = await ask("a6");
    expect((await lares.chat("a6", `/deny ${other.approval!.id.slice(-6)} too loud`)).response).toMatch(/Denied/);
    await lares.rpc("turns.wait", { turn: other.turn });
    expect(toolResults(requestsWith(model, "#a6").at(-1)!).at(-1)!.text).toContain("too loud");
  });

  it("/stop withdraws the question and ends the turn visibly", async () => {
    const parked = await ask("a7");
    await lares.chat("a7", "/stop");
    const end = await lares.rpc("turns.wait", { turn: parked.turn });
    expect(end.state).toBe("stopped");
    expect((await lares.rpc("approvals.get", { id: parked.approval!.id })).state).toBe("withdrawn");
    const late = await lares
      .rpc("approvals.resolve", { id: parked.approval!.id, decision: "allow-once" })
      .catch((e: unknown) => e);
    expect(late).toMatchObject({ error: { code: "ALREADY_ANSWERED" } });
    expect(lines("a7.txt")).toEqual([]);
  });

  it("two questions of one reply are answered one by one; the turn goes on when both are", async () => {
    const parked = await lares.chat(
      "a8",
      `#a8 ${callExec("echo one >> a8.txt")} ${callExec("echo two >> a8.txt")} then: say:both`,
    );
    const { approvals } = await lares.rpc("approvals.list", { session: parked.session });
    expect(approvals).toHaveLength(2);
    // Not the bare word: "network" has a "two" in it.
    const about = (word: string) => approvals.find((a) => a.shown.includes(`echo ${word}`))!.id;
    await lares.rpc("approvals.resolve", { id: about("one"), decision: "deny" });
    await until(
      "it to wait again",
      async () => (await lares.rpc("turns.get", { turn: parked.turn })).state === "parked",
    );
    await lares.rpc("approvals.resolve", { id: about("two"), decision: "allow-once" });
    expect((await lares.rpc("turns.wait", { turn: parked.turn })).response).toBe("both");
    expect(lines("a8.txt")).toEqual(["two"]);
  });
});

describe("restart", () => {
  it("an approval asked before kill -9 is answered after it, and runs once", async () => {
    const parked = await ask("r1", { key: "r1-key" });
    await lares.restart();
    const { approvals } = await lares.rpc("approvals.list", { session: parked.session });
    expect(approvals.map((a) => a.id)).toEqual([parked.approval!.id]);
    const again = await lares.chat("r1", asked("r1"), { key: "r1-key" });
    expect(again).toMatchObject({ status: 202, state: "parked", turn: parked.turn });
    expect(again.approval!.id).toBe(parked.approval!.id);
    await lares.rpc("approvals.resolve", { id: parked.approval!.id, decision: "allow-once" });
    expect((await lares.rpc("turns.wait", { turn: parked.turn })).state).toBe("answered");
    await lares.restart();
    expect(lines("r1.txt")).toEqual(["ran"]);
    const end = await lares.chat("r1", asked("r1"), { key: "r1-key" });
    expect(end).toMatchObject({ status: 200, state: "answered", turn: parked.turn });
  });
});

describe.concurrent("expiry", () => {
  it("nobody answers: it counts as no, the model learns of it, a late answer is refused; also over a restart (APPROVALS-3)", async () => {
    const hasty = await startLares({
      env: model.env,
      // 1.8 s
      config: { ...QUICK, approvals: { expireAfterHours: 0.0005 } },
    });
    try {
      const parked = await ask("e1", { at: hasty });
      const slept = await ask("e2", { at: hasty });
      const end = await until("the expiry", async () => {
        const turn = await hasty.rpc("turns.get", { turn: parked.turn });
        return turn.state === "answered" ? turn : undefined;
      });
      expect(end.response).toMatch(/Nobody answered in time/);
      expect((await hasty.rpc("approvals.get", { id: parked.approval!.id })).state).toBe("expired");
      const late = await hasty
        .rpc("approvals.resolve", { id: parked.approval!.id, decision: "allow-once" })
        .catch((e: unknown) => e);
      expect(late).toMatchObject({
        error: { code: "ALREADY_ANSWERED", message: expect.stringMatching(/expired before it was answered/) },
      });
      await hasty.kill9();
      await hasty.start();
      expect((await hasty.rpc("turns.wait", { turn: slept.turn })).state).toBe("answered");
      // The old button and the old word, in the life after.
      for (const { approval } of [parked, slept]) {
        const pressed = await hasty
          .rpc("approvals.resolve", { id: approval!.id, decision: "allow-once" })
          .catch((e) => e);
        expect(pressed).toMatchObject({
          status: 409,
          error: { message: expect.stringMatching(/expired before it was answered/) },
        });
        const { response } = await hasty.chat("e1", `/approve ${approval!.id.slice(-6)}`);
        expect(response).toMatch(/expired before it was answered/);
      }
      expect(existsSync(join(hasty.workspace(), "e1.txt"))).toBe(false);
      expect(existsSync(join(hasty.workspace(), "e2.txt"))).toBe(false);
    } finally {
      await hasty.dispose();
    }
  });

  it("a deadline that passes while Lares is down counts at the next start", async () => {
    const hasty = await startLares({ env: model.env, config: { ...QUICK, approvals: { expireAfterHours: 0.0002 } } });
    try {
      const parked = await ask("e3", { at: hasty });
      await hasty.kill9();
      await until("the deadline to pass", () => Date.now() > parked.approval!.deadline);
      await hasty.start();
      const end = await until("the expiry", async () => {
        const turn = await hasty.rpc("turns.get", { turn: parked.turn });
        return turn.state === "answered" ? turn : undefined;
      });
      expect(end.approvals[0]!.state).toBe("expired");
    } finally {
      await hasty.dispose();
    }
  });
});

describe.concurrent("in a chat", () => {
  const CHAT = "c1";
  async function chatting(approvals: object, act: (at: Lares, seen: () => string[]) => Promise<void>) {
    const far = await startFarSide();
    const own = await startLares({
      env: model.env,
      config: {
        ...QUICK,
        approvals,
        channels: {
          webhook: { hook: { secret: far.secret, url: far.url, dedupes: true, approvers: ["boss"] } },
        },
      },
    });
    try {
      await act(own, () => far.shown.map((one) => one.text));
    } finally {
      await own.dispose();
      await far.close();
    }
  }
  const say = (at: Lares, text: string, id = text.slice(0, 40)) =>
    sendHook(at, "hook", "far-side-secret-0123456789", { id, chat: CHAT, sender: "boss", text });

  it("AP-09: a long command is shortened in the middle, what it starts stays visible, the approval has all of it", () =>
    chatting({}, async (at, seen) => {
      const lines = Array.from({ length: 60 }, (_, i) => `echo step ${i}`);
      lines[30] = "cp \u202egood evil";
      await say(at, callExec(lines.join("\n")), "long");
      const question = await until("the question", () => seen().find((text) => text.includes("approve ")));
      expect(question.split("\n").length).toBeLessThan(25);
      expect(question).toContain("echo step 0");
      expect(question).toContain("echo step 59");
      expect(question).toContain("cp \\u{202e}good evil");
      expect(question).toMatch(/\d+ of \d+ lines not shown/);
      const { approvals } = await at.rpc("approvals.list", {});
      for (const i of [0, 17, 44, 59]) expect(approvals[0]!.shown).toContain(`echo step ${i}`);
    }));

  it("is answered without a slash: by its code, or by a bare yes while it is the last thing said", () =>
    chatting({}, async (at, seen) => {
      const ask = async (n: number) => {
        await say(at, `${callExec(`echo plain-${n}`)} then: say:did-${n}`, `ask-${n}`);
        await until(`question ${n}`, () => seen().some((text) => text.includes(`echo plain-${n}`)));
        const { approvals } = await at.rpc("approvals.list", {});
        return approvals.find((one) => one.shown.includes(`plain-${n}`))!.id.slice(-6);
      };
      await say(at, `yes ${await ask(1)}`, "yes-1");
      await until("the first answer", () => seen().includes("did-1"), { instead: seen });
      await ask(2);
      await say(at, "Yes", "yes-2");
      await until("the second answer", () => seen().includes("did-2"), { instead: seen });
      await ask(3);
      await say(at, "no", "no-3");
      await until("the third to be denied", () => seen().some((text) => text.startsWith("Denied")), { instead: seen });
      const code = await ask(4);
      // Something else is said in the chat: what a bare yes means now is for the agent to find out.
      await say(at, "/help", "help");
      await until("the help", () => seen().some((text) => text.includes("/status")), { instead: seen });
      await say(at, "yes", "yes-4");
      await say(at, "/approve", "status");
      await until("it to be allowed by the other", () => seen().includes("did-4"), { instead: seen });
      const { approvals } = await at.rpc("approvals.list", { state: "all" });
      expect(approvals.find((one) => one.id.endsWith(code))).toMatchObject({ state: "allowed" });
      const { lines } = await at.rpc("sessions.export", { session: approvals[0]!.session });
      const texts = lines.filter((line) => line.role === "user").map((line) => JSON.stringify(line.content));
      expect(texts.filter((text) => /"(Yes|no)"/.test(text))).toEqual([]);
      expect(texts.filter((text) => text.includes("yes")).length).toBe(1);
    }));

  it("a question nobody answers is said again, no reminder twice over a kill; the answer ends it", () =>
    // 1.8 s, 3.6 s and 7.2 s after the question; what is slept through is said once.
    chatting({ remindAfterHours: 0.0005 }, async (at, seen) => {
      await say(at, `${callExec("echo waited")} then: say:over`, "ask");
      const reminders = () => seen().filter((text) => text.includes("still waiting"));
      await until("the first reminder", () => reminders().length === 1);
      await at.restart();
      await until("another reminder", () => reminders().length >= 2, { withinMs: 20_000 });
      expect(reminders()[0]).toContain("echo waited");
      const [asked] = (await at.rpc("approvals.list", {})).approvals;
      const code = /approve (\w+)/.exec(reminders()[1]!)![1]!;
      await say(at, `/approve ${code}`, "yes");
      await until("the answer", () => seen().some((text) => text.includes("over")), { instead: seen });
      const { deliveries } = await at.rpc("turns.get", { turn: asked!.turn });
      const intended = deliveries.filter((one) => one.id.includes(":remind:"));
      expect(intended.length).toBeLessThanOrEqual(3);
      expect(reminders()).toHaveLength(intended.length);
    }));
});
