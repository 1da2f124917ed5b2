/** `lares chat -m`: the answer on stdout, the outcome as exit code. */
import { afterEach, describe, expect, it } from "vitest";
import { asId, type LiveEvent, type SessionKey, type TurnId } from "../../../core/domain/index.ts";
import { ManualClock } from "../../../core/kit/index.ts";
import type { ChatAnswer, TurnDetail } from "../../../core/protocol/index.ts";
import {
  approval,
  cli,
  type FakeGateway,
  fakeGateway,
  NOW,
  openTurn,
  type RunOptions,
  SESSION,
  turnDetail,
  until,
} from "../testing.ts";

let gateway: FakeGateway;
afterEach(() => gateway.close());

const session = asId<SessionKey>(SESSION);
const turn = asId<TurnId>("t_1");
const accepted: ChatAnswer = {
  turn,
  session: SESSION,
  agent: "main",
  state: "queued",
  response: "",
  notices: [],
  duplicate: false,
};
const endedEvent: LiveEvent = { event: "turn.ended", session, turn, state: "answered", text: "" };

/** A gateway whose turn stands as `detail` says, and a message to it. */
async function send(argv: string[], at: { detail: TurnDetail }, options: Partial<RunOptions> = {}) {
  gateway = await fakeGateway({
    "chat.send": () => accepted,
    "turns.get": () => at.detail,
    "turns.wait": () => ({ ...accepted, state: at.detail.state, response: at.detail.response ?? "" }),
    "chat.abort": () => ({ stopped: true, turn }),
  });
  const ran = cli(["chat", ...argv], { home: gateway.home, ...options });
  await until(() => gateway.callsOf("chat.send").length > 0);
  return ran;
}

/** The turn ends as `over` says. */
async function answer(argv: string[], over: Partial<TurnDetail>) {
  const at = { detail: openTurn() };
  const ran = await send(argv, at);
  at.detail = turnDetail(over);
  gateway.emit(endedEvent);
  return { code: await ran.code, out: ran.out(), err: ran.err() };
}

describe("chat -m", () => {
  it("prints the answer on stdout and nothing else", async () => {
    const got = await answer(["-m", "hi", "--user", "ada", "--agent", "main", "--idempotency-key", "k1"], {});
    expect(got).toEqual({ code: 0, out: "Hello there.\n", err: "" });
    // What waits in the session from before is not this message's business.
    expect(gateway.callsOf("turns.list")).toEqual([]);
    expect(gateway.callsOf("chat.send")).toEqual([
      { message: "hi", user: "ada", agent: "main", wait: false, idempotencyKey: "k1" },
    ]);
  });

  it("notices and the practice model are told on stderr; -q is silent", async () => {
    const over = { notices: ["A fallback answered."], practice: true };
    const got = await answer(["-m", "hi"], over);
    expect(got.out).toBe("Hello there.\n");
    expect(got.err).toBe("! A fallback answered.\n(The practice model answered: rules, not a language model.)\n");
    await gateway.close();
    expect((await answer(["-m", "hi", "-q"], over)).err).toBe("");
  });

  it.each([
    ["failed", 1, "✕ failed: The provider is away."],
    ["declined", 7, "– declined: The provider is away."],
    ["stopped", 130, "– stopped: The provider is away."],
    ["attention", 1, "? needs attention: The provider is away."],
  ] as const)("a turn that %s ends with %i and says why on stderr", async (state, exit, line) => {
    const got = await answer(["-m", "hi"], { state, response: "", reason: "The provider is away." });
    expect(got).toEqual({ code: exit, out: "", err: `${line}\n` });
  });

  it("a parked turn ends with 6 at once, with what waits and how to answer", async () => {
    const ran = await send(["-m", "clean up"], { detail: openTurn({ state: "parked", approvals: [approval()] }) });
    gateway.emit({ event: "turn.parked", session, turn, approvals: [] });
    expect(await ran.code).toBe(6);
    expect(ran.out()).toBe("");
    expect(ran.err()).toContain("Allow main to do this? (exec)\n    rm -rf build\n");
    expect(ran.err()).toContain("Allow: lares approve abc123   Deny: lares deny abc123");
    expect(ran.err()).toContain("lares turns get t_1");
  });

  it("--json is one document, parked or answered", async () => {
    const ran = await send(["-m", "x", "--json"], { detail: openTurn({ state: "parked", approvals: [approval()] }) });
    gateway.emit({ event: "turn.parked", session, turn, approvals: [] });
    expect(await ran.code).toBe(6);
    expect(JSON.parse(ran.out())).toMatchObject({ turn, state: "parked", approval: { id: approval().id } });
    expect(ran.err()).toBe("");
    await gateway.close();
    const got = await answer(["-m", "x", "--json"], { state: "failed", response: "" });
    expect(JSON.parse(got.out)).toMatchObject({ turn, state: "failed" });
    expect(got.code).toBe(1);
  });

  it("reads the message from a pipe", async () => {
    const at = { detail: openTurn() };
    const ran = await send([], at, { input: "from a pipe\n" });
    at.detail = turnDetail();
    gateway.emit(endedEvent);
    await ran.code;
    expect(gateway.callsOf("chat.send")).toMatchObject([{ message: "from a pipe" }]);
  });

  it("a key whose turn has ended gets its answer without an event", async () => {
    gateway = await fakeGateway({
      "chat.send": () => ({ ...accepted, state: "answered", response: "Hello there.", duplicate: true }),
      "turns.get": () => turnDetail(),
    });
    const ran = cli(["chat", "-m", "hi", "--idempotency-key", "k1"], { home: gateway.home });
    expect(await ran.code).toBe(0);
    expect(ran.out()).toBe("Hello there.\n");
  });

  it("a message that joined a running turn gets that turn's answer", async () => {
    gateway = await fakeGateway({
      "chat.send": () => accepted,
      "turns.get": (p) =>
        p.turn === turn
          ? turnDetail({ state: "joined", joined: "t_0", response: "" })
          : turnDetail({ turn: "t_0", response: "Both answered." }),
    });
    const ran = cli(["chat", "-m", "hi"], { home: gateway.home });
    await until(() => gateway.callsOf("chat.send").length > 0);
    gateway.emit({ ...endedEvent, state: "joined" } as LiveEvent);
    expect(await ran.code).toBe(0);
    expect(ran.out()).toBe("Both answered.\n");
  });

  it("an end that overtakes the answer to chat.send is not missed", async () => {
    gateway = await fakeGateway({
      "chat.send": async () => {
        gateway.emit(endedEvent);
        await new Promise((resolve) => setTimeout(resolve, 20));
        return accepted;
      },
      "turns.get": () => turnDetail(),
    });
    const ran = cli(["chat", "-m", "hi"], { home: gateway.home, clock: new ManualClock(NOW) });
    await until(() => ran.out() !== "");
    expect(await ran.code).toBe(0);
    expect(ran.out()).toBe("Hello there.\n");
  });

  it("a restart of the gateway in the middle changes nothing", async () => {
    const clock = new ManualClock(NOW);
    const at = { detail: openTurn() };
    const ran = await send(["-m", "hi"], at, { clock });
    await gateway.stop();
    at.detail = turnDetail();
    await gateway.start();
    const timer = setInterval(() => clock.advance(250), 5);
    expect(await ran.code).toBe(0);
    clearInterval(timer);
    expect(ran.out()).toBe("Hello there.\n");
    expect(gateway.callsOf("chat.send")).toHaveLength(1);
  });

  it("a gateway that stays away ends with 3 and says that the message is kept", async () => {
    const clock = new ManualClock(NOW);
    const ran = await send(["-m", "hi"], { detail: openTurn() }, { clock });
    await until(() => gateway.logins.length > 0);
    await gateway.stop();
    const timer = setInterval(() => clock.advance(5000), 5);
    expect(await ran.code).toBe(3);
    clearInterval(timer);
    expect(ran.err()).toContain("Your message is safe");
    expect(ran.err()).toContain("lares turns get t_1");
    await gateway.start();
  });

  it("Ctrl-C stops the turn; its end decides", async () => {
    const at = { detail: openTurn() };
    const ran = await send(["-m", "hi"], at);
    await new Promise((resolve) => setTimeout(resolve, 20));
    ran.signal("SIGINT");
    await until(() => gateway.callsOf("chat.abort").length > 0);
    expect(gateway.callsOf("chat.abort")).toEqual([{ turn }]);
    at.detail = turnDetail({ state: "stopped", response: "", reason: "Stopped." });
    gateway.emit(endedEvent);
    expect(await ran.code).toBe(130);
  });

  it("Ctrl-C twice leaves at once", async () => {
    const ran = await send(["-m", "hi"], { detail: openTurn() });
    ran.signal("SIGINT");
    ran.signal("SIGINT");
    expect(await ran.code).toBe(130);
  });

  it("somebody who waits sees what is being done, after 300 ms, and nothing of it stays", async () => {
    const clock = new ManualClock(NOW);
    const at = { detail: openTurn() };
    const ran = await send(["-m", "hi"], at, { clock, tty: true });
    gateway.emit({ event: "tool.call", session, turn, id: "c1", name: "exec", input: { command: "npm test" } });
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(ran.err()).toBe("");
    clock.advance(300);
    await until(() => ran.err().includes("● running"));
    expect(ran.err()).toContain("exec npm test");
    at.detail = turnDetail();
    gateway.emit(endedEvent);
    expect(await ran.code).toBe(0);
    expect(ran.err().endsWith("\r\u001b[J")).toBe(true);
  });
});
