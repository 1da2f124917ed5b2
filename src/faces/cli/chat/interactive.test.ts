/** `lares chat` in a terminal, looked at as a person would: by what stands on the screen. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AppError, asId, type LiveEvent, type SessionKey, type TurnId } from "../../../core/domain/index.ts";
import { ManualClock } from "../../../core/kit/index.ts";
import type { TurnDetail } from "../../../core/protocol/index.ts";
import {
  approval,
  cli,
  type FakeGateway,
  fakeGateway,
  NOW,
  openTurn,
  quietStatus,
  type Ran,
  SESSION,
  turnDetail,
  until,
} from "../testing.ts";

/** UI.md §4. */
const UNREAD_MS = 600;

let gateway: FakeGateway;
let clock: ManualClock;
let ran: Ran;
/** How the turns stand in the records. */
let turns: Record<string, TurnDetail>;

const session = asId<SessionKey>(SESSION);
const id = (turn: string) => asId<TurnId>(turn);

beforeEach(async () => {
  clock = new ManualClock(NOW);
  turns = {};
  let n = 0;
  gateway = await fakeGateway({
    status: () => quietStatus(),
    "chat.send": () => {
      const turn = `t_${++n}`;
      turns[turn] ??= openTurn({ turn });
      return { turn, session: SESSION, agent: "main", state: "queued", response: "", notices: [], duplicate: false };
    },
    "commands.list": () => ({
      commands: ["status", "stop", "help"].map((name) => ({ name, usage: `/${name}`, doc: "" })),
    }),
    "turns.get": (p) => turns[p.turn]!,
    "turns.list": () => ({
      turns: Object.values(turns)
        .filter((t) => t.endedAt === undefined)
        .map(({ turn, session, agent, state, acceptedAt }) => ({ turn, session, agent, state, acceptedAt })),
    }),
    "chat.abort": (p) => ({ stopped: true, turn: p.turn ?? "" }),
    "approvals.resolve": (p) => approval({ id: p.id, state: p.decision === "deny" ? "denied" : "allowed" }),
  });
});

afterEach(async () => {
  ran.type("\u0003");
  ran.type("\u0003");
  await ran.code;
  await gateway.close();
});

async function open(...argv: string[]): Promise<void> {
  ran = cli(["chat", ...argv], { home: gateway.home, tty: true, clock });
  await until(() => ran.screen().some((line) => line.startsWith("›")));
}

async function say(text: string): Promise<void> {
  const before = gateway.callsOf("chat.send").length;
  ran.type(`${text}\r`);
  await until(() => gateway.callsOf("chat.send").length > before);
  await settled();
}

function end(turn: string, over: Partial<TurnDetail> = {}): void {
  turns[turn] = turnDetail({ turn, practice: true, ...over });
  gateway.emit({ event: "turn.ended", session, turn: id(turn), state: "answered", text: "" });
}

const delta = (text: string, call = 0): LiveEvent => ({ event: "turn.delta", session, turn: id("t_1"), call, text });
const shows = (text: string) => until(() => ran.screen().some((line) => line.includes(text)));
const count = (text: string) => ran.screen().filter((line) => line.includes(text)).length;
/** Events under way have arrived. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 30));

describe("a conversation", () => {
  it("says plainly when the practice model answers", async () => {
    await open();
    expect(ran.screen().join("\n")).toContain("Model: the practice model (no key was found).");
  });

  it("streams the answer, shows tools as rows, and ends with one line", async () => {
    await open("--agent", "main", "--session", SESSION);
    await say("hi");
    expect(gateway.callsOf("chat.send")).toMatchObject([
      { message: "hi", agent: "main", session: SESSION, wait: false },
    ]);
    gateway.emit(delta("I will "));
    gateway.emit(delta("look.\n"));
    await shows("I will look.");
    gateway.emit({
      event: "tool.call",
      session,
      turn: id("t_1"),
      id: "c",
      name: "exec",
      input: { command: "npm test" },
    });
    await shows("● running · 0 s · exec npm test, 0 s");
    clock.advance(1900);
    gateway.emit({ event: "tool.result", session, turn: id("t_1"), id: "c", name: "exec", text: "ok", isError: false });
    gateway.emit(delta("All is ", 1));
    gateway.emit(delta("well.", 1));
    end("t_1", { response: "All is well." });
    await shows("answered");
    expect(ran.screen().slice(2)).toEqual([
      "",
      "› hi",
      "I will look.",
      "✓ exec npm test · 1.9 s",
      "All is well.",
      "✓ answered · 4.2 s · 3 steps",
      "›",
      "main · practice model · Enter sends · Ctrl-C stops, twice quits · /help",
    ]);
  });

  it("a failed tool opens itself", async () => {
    await open();
    await say("hi");
    const text = Array.from({ length: 9 }, (_, i) => `line ${i}`).join("\n");
    gateway.emit({ event: "tool.call", session, turn: id("t_1"), id: "c", name: "exec", input: { command: "false" } });
    gateway.emit({ event: "tool.result", session, turn: id("t_1"), id: "c", name: "exec", text, isError: true });
    await shows("✕ exec false");
    expect(ran.screen().join("\n")).toContain("    line 5\n    … 3 more lines");
  });

  it("a long line is wrapped at words, and what is typed meanwhile stays", async () => {
    await open();
    await say("hi");
    ran.type("next thing");
    const words = Array.from({ length: 40 }, (_, i) => `word${i}`);
    for (const word of words) gateway.emit(delta(`${word} `));
    end("t_1", { response: words.join(" ") });
    await shows("answered");
    const text = ran.screen().filter((line) => line.startsWith("word"));
    expect(text.join(" ")).toBe(words.join(" "));
    expect(Math.max(...text.map((line) => line.length))).toBeLessThan(80);
    expect(ran.screen().at(-2)).toBe("› next thing");
  });

  it("slash commands go to the server as they are", async () => {
    await open();
    await say("/status");
    expect(gateway.callsOf("chat.send")).toMatchObject([{ message: "/status" }]);
    end("t_1", { response: "All quiet.", steps: [] });
    await shows("All quiet.");
  });

  it("pasted lines are one message (CHAT-1)", async () => {
    await open();
    ran.type("\u001b[200~one\rtwo\rthree\u001b[201~");
    await shows("(2 lines above) three");
    expect(gateway.callsOf("chat.send")).toEqual([]);
    ran.type("\r");
    await until(() => gateway.callsOf("chat.send").length === 1);
    expect(gateway.callsOf("chat.send")).toMatchObject([{ message: "one\ntwo\nthree" }]);
  });

  it.each([
    ["a paste", (text: string) => `\u001b[200~${text}\u001b[201~`],
    ["keys that come together", (text: string) => text],
  ])("100 kB as %s are drawn a few times, not once for each character (CHAT-14)", async (_how, keys) => {
    await open();
    const text = "many words ".repeat(10_000).trim();
    const before = ran.out().length;
    ran.type(keys(text));
    await shows("words");
    expect(ran.out().length - before).toBeLessThan(100_000);
    ran.type("\r");
    await until(() => gateway.callsOf("chat.send").length === 1);
    expect(gateway.callsOf("chat.send")).toMatchObject([{ message: text }]);
  });

  it("more than a message holds is left out, and said", async () => {
    await open();
    ran.type(`\u001b[200~${"x".repeat(300_000)}\u001b[201~`);
    await shows("Messages are limited to 262,144 characters; the rest was left out.");
    ran.type("\r");
    await until(() => gateway.callsOf("chat.send").length === 1);
    expect((gateway.callsOf("chat.send")[0] as { message: string }).message).toHaveLength(262_144);
  });

  it("the arrow up brings back what was said", async () => {
    await open();
    await say("remember this");
    ran.type("\u001b[A");
    await until(() => ran.screen().at(-2) === "› remember this");
  });

  it("the arrow up brings back what was said another day", async () => {
    writeFileSync(join(gateway.home, "chat-history"), "older\nyesterday\n");
    await open();
    ran.type("\u001b[A");
    await until(() => ran.screen().at(-2) === "› yesterday");
    ran.type("\u0015today\r");
    await until(() => gateway.callsOf("chat.send").length === 1);
    expect(readFileSync(join(gateway.home, "chat-history"), "utf8")).toBe("older\nyesterday\ntoday\n");
  });

  it("Tab completes a slash command, and shows those that may be meant", async () => {
    await open();
    await until(() => gateway.callsOf("commands.list").length === 1);
    await settled();
    ran.type("/s\t");
    await shows("/status  /stop");
    expect(ran.screen().at(-2)).toBe("› /st");
    ran.type("a\t");
    await until(() => ran.screen().at(-2) === "› /status");
    expect(count("/status  /stop")).toBe(0);
    ran.type("\r");
    await until(() => gateway.callsOf("chat.send").length === 1);
    expect(gateway.callsOf("chat.send")).toMatchObject([{ message: "/status" }]);
  });

  it("a tab in an ordinary line is nothing", async () => {
    await open();
    ran.type("hello\tyou");
    await until(() => ran.screen().at(-2) === "› helloyou");
  });

  it("reads in a row are one row, until something else is done", async () => {
    await open();
    await say("hi");
    const read = (path: string, isError = false) => {
      const call = { session, turn: id("t_1"), id: path, name: "read" };
      gateway.emit({ event: "tool.call", ...call, input: { path } });
      gateway.emit({ event: "tool.result", ...call, text: isError ? "no such file" : "…", isError });
    };
    read("a.ts");
    await shows("✓ read a.ts");
    read("b.ts");
    read("c.ts");
    await shows("✓ read 3 files");
    expect(count("read a.ts")).toBe(0);
    read("gone.ts", true);
    await shows("✕ read gone.ts");
    read("d.ts");
    gateway.emit(delta("Done."));
    end("t_1", { response: "Done." });
    await shows("answered");
    const rows = ran.screen().map((line) => line.replace(/ · (< )?[\d.]+ s( · failed)?$/, ""));
    expect(rows.slice(rows.indexOf("› hi") + 1, -3)).toEqual([
      "✓ read 3 files",
      "✕ read gone.ts",
      "    no such file",
      "✓ read d.ts",
      "Done.",
    ]);
  });

  it("a failure is told with its reason", async () => {
    await open();
    await say("hi");
    end("t_1", { state: "failed", response: "", reason: "The provider is away." });
    await shows("✕ failed");
    expect(count("The provider is away.")).toBe(1);
  });

  it("a message the server refuses is told", async () => {
    gateway.handlers["chat.send"] = () => {
      throw new AppError("AGENT_UNKNOWN", { message: 'There is no agent "x".' });
    };
    await open();
    ran.type("hi\r");
    await shows('✕ There is no agent "x".');
  });
});

describe("an approval", () => {
  async function parked(...asked: ReturnType<typeof approval>[]): Promise<void> {
    await open();
    await say("clean up");
    turns.t_1 = openTurn({ state: "parked", approvals: asked.length ? asked : [approval()] });
    gateway.emit({ event: "turn.parked", session, turn: id("t_1"), approvals: [] });
    await shows("Allow main to do this?");
  }
  const resolved = () => gateway.callsOf("approvals.resolve");

  it("shows exactly what will run", async () => {
    await parked(approval({ shown: "rm \u001b[8m-rf build\nsecond line" }));
    expect(ran.screen().join("\n")).toContain("    rm \\x1b[8m-rf build\n    second line\n");
    expect(count("yes, no or always, then Enter")).toBe(1);
  });

  it.each([
    ["yes", "allow-once", "✓ allowed once"],
    ["Allow", "allow-once", "✓ allowed once"],
    ["always", "allow-always", "✓ always allowed"],
    [" no ", "deny", "– denied"],
    [`deny ${approval().id.slice(-6)}`, "deny", "– denied"],
  ])("%s and Enter answers %s (CHAT-7)", async (word, decision, line) => {
    await parked();
    clock.advance(UNREAD_MS);
    ran.type(`${word}\r`);
    await shows(line);
    expect(resolved()).toEqual([{ id: approval().id, decision }]);
    expect(count("waiting for you")).toBe(0);
    expect(gateway.callsOf("chat.send")).toHaveLength(1);
  });

  it.each(["a", "A", "d", "y", "n", "ad", "also what is this?", "yes please", "no, wait", "yes 000000"])(
    "%j answers nothing, and every letter of it is sent",
    async (text) => {
      await parked();
      clock.advance(5000);
      for (const letter of text) {
        ran.type(letter);
        await settled();
      }
      expect(resolved()).toEqual([]);
      expect(ran.screen().at(-2)).toBe(`› ${text}`);
      await say("");
      expect(gateway.callsOf("chat.send").at(-1)).toMatchObject({ message: text });
      expect(resolved()).toEqual([]);
    },
  );

  describe("with fields, of an MCP server", () => {
    const form = {
      from: "sky",
      fields: [
        { name: "unit", kind: "choice" as const, required: true, options: [{ value: "c", title: "Celsius" }] },
        { name: "days", kind: "integer" as const, required: false },
      ],
    };
    const asks = approval({ shown: "sky asks:\n> Which unit?", form });
    const asked = async () => {
      await open();
      await say("how is the weather?");
      turns.t_1 = openTurn({ state: "parked", approvals: [asks] });
      gateway.emit({ event: "turn.parked", session, turn: id("t_1"), approvals: [] });
      await shows("The MCP server sky asks you something.");
      clock.advance(UNREAD_MS);
    };

    it.each([
      ["answer unit: c; days: 2", "unit: c; days: 2"],
      [`answer ${asks.id.slice(-6)} unit: c`, "unit: c"],
    ])("%s passes on what was typed", async (line, answers) => {
      await asked();
      expect(count("waiting for you · answer unit: c; days: NUMBER · or no")).toBe(1);
      ran.type(`${line}\r`);
      await shows("✓ answer sent");
      expect(resolved()).toEqual([{ id: asks.id, decision: "allow-once", answers }]);
      expect(gateway.callsOf("chat.send")).toHaveLength(1);
    });

    it("waits on after an answer that doesn't fit, and no declines", async () => {
      const resolve = gateway.handlers["approvals.resolve"]!;
      gateway.handlers["approvals.resolve"] = () => {
        throw new AppError("BAD_REQUEST", { message: '"unit" is missing.', hint: "Answer like this: unit: c" });
      };
      await asked();
      ran.type("yes\r");
      await shows('✕ "unit" is missing. Answer like this: unit: c');
      gateway.handlers["approvals.resolve"] = resolve;
      clock.advance(UNREAD_MS);
      ran.type("no\r");
      await shows("– declined");
      expect(resolved().at(-1)).toEqual({ id: asks.id, decision: "deny" });
    });

    it("a sentence that begins with answer is a message where nothing is to fill in", async () => {
      await parked();
      clock.advance(UNREAD_MS);
      await say("answer me in English");
      expect(gateway.callsOf("chat.send").at(-1)).toMatchObject({ message: "answer me in English" });
    });
  });

  it("nobody has read it in 600 ms: what is sent by then is a message", async () => {
    await parked();
    clock.advance(UNREAD_MS - 1);
    await say("yes");
    expect(gateway.callsOf("chat.send").at(-1)).toMatchObject({ message: "yes" });
    expect(resolved()).toEqual([]);
  });

  it("a word begun before the question came is a message, and says so (CHAT-8)", async () => {
    await open();
    await say("clean up");
    ran.type("ye");
    await until(() => ran.screen().at(-2) === "› ye");
    turns.t_1 = openTurn({ state: "parked", approvals: [approval()] });
    gateway.emit({ event: "turn.parked", session, turn: id("t_1"), approvals: [] });
    await shows("Allow main to do this?");
    expect(count("what you're typing is sent as a message")).toBe(1);
    clock.advance(5000);
    await say("s");
    expect(gateway.callsOf("chat.send").at(-1)).toMatchObject({ message: "yes" });
    expect(resolved()).toEqual([]);
    ran.type("yes\r");
    await until(() => resolved().length === 1);
  });

  it("the card last shown is the one meant, and an answer begun for the one before is not for it", async () => {
    await parked(approval(), approval({ id: "ap_2", shown: "second" }));
    expect(count("1 more after it")).toBe(1);
    clock.advance(UNREAD_MS);
    ran.type("yes");
    await until(() => ran.screen().at(-2) === "› yes");
    const answered = { session, turn: id("t_1"), approval: asId<never>(approval().id), state: "denied", by: "ana" };
    gateway.emit({ event: "approval.answered", ...answered } as LiveEvent);
    await shows("    second");
    clock.advance(UNREAD_MS);
    await say("");
    expect(resolved()).toEqual([]);
    ran.type("no\r");
    await until(() => resolved().length === 1);
    expect(resolved()).toEqual([{ id: "ap_2", decision: "deny" }]);
  });

  it("that waited from before is asked again when its session is taken up", async () => {
    turns.t_old = openTurn({ turn: "t_old", state: "parked", approvals: [approval({ turn: "t_old" })] });
    await open("--session", SESSION);
    await shows("Allow main to do this?");
    // It was not sent from here, so Ctrl-C does not withdraw it.
    ran.type("\u0003");
    await shows("Press Ctrl-C again to quit.");
    expect(gateway.callsOf("chat.abort")).toEqual([]);
    clock.advance(2000);
    ran.type("yes\r");
    await until(() => resolved().length === 1);
    end("t_old", { response: "Cleaned up." });
    await shows("Cleaned up.");
  });

  it("answered elsewhere, it is no longer asked here", async () => {
    await parked();
    const answered = { session, turn: id("t_1"), approval: asId<never>(approval().id), state: "allowed", by: "ana" };
    gateway.emit({ event: "approval.answered", ...answered } as LiveEvent);
    await shows("– allowed by ana");
    clock.advance(UNREAD_MS);
    await say("yes");
    expect(resolved()).toEqual([]);
  });
});

describe("Ctrl-C", () => {
  it("stops the running turn; its end is shown and the conversation goes on", async () => {
    await open();
    await say("hi");
    ran.type("\u0003");
    await until(() => gateway.callsOf("chat.abort").length === 1);
    expect(gateway.callsOf("chat.abort")).toEqual([{ turn: "t_1" }]);
    await shows("stopping · Ctrl-C again to quit");
    end("t_1", { state: "stopped", response: "", reason: "Stopped." });
    await shows("– stopped");
    clock.advance(2000);
    await say("again");
    expect(gateway.callsOf("chat.send")).toHaveLength(2);
  });

  it("twice leaves, with 130 (CHAT-5)", async () => {
    await open();
    await say("hi");
    ran.type("\u0003");
    await until(() => gateway.callsOf("chat.abort").length === 1);
    ran.type("\u0003");
    expect(await ran.code).toBe(130);
    expect(ran.screen().join("\n")).toContain(`To come back: lares chat --session ${SESSION}`);
  });

  it("with nothing running says how to leave, and after a while begins anew", async () => {
    await open();
    ran.type("\u0003");
    await shows("Press Ctrl-C again to quit.");
    clock.advance(2000);
    ran.type("\u0003");
    await settled();
    ran.type("\u0003");
    expect(await ran.code).toBe(130);
  });

  it("Ctrl-D leaves with 0 and says that the turn goes on", async () => {
    await open();
    await say("hi");
    ran.type("\u0004");
    expect(await ran.code).toBe(0);
    expect(ran.screen().join("\n")).toContain("The turn continues without you. See the result: lares turns get t_1");
  });
});

describe("a gateway that restarts", () => {
  /** Moves time until the chat has found its way back. */
  async function back(): Promise<void> {
    const before = gateway.logins.length;
    const timer = setInterval(() => clock.advance(300), 5);
    await until(() => gateway.logins.length > before);
    clearInterval(timer);
    await settled();
  }

  it("the answer is shown once", async () => {
    await open();
    await say("hi");
    gateway.emit(delta("Hello "));
    await shows("Hello");
    await gateway.stop();
    await shows("No connection since");
    await gateway.start();
    await back();
    gateway.emit(delta("Hello "));
    gateway.emit(delta("there."));
    end("t_1", { response: "Hello there." });
    await shows("answered");
    expect(count("Lares restarted")).toBe(1);
    expect(
      ran
        .screen()
        .join(" ")
        .match(/there\./g),
    ).toHaveLength(1);
    expect(ran.screen().join(" ").match(/Hello/g)).toHaveLength(1);
    expect(count("answered")).toBe(1);
  });

  it("an end that was missed is read from the records (CHAT-3)", async () => {
    await open();
    await say("hi");
    await gateway.stop();
    turns.t_1 = turnDetail({ turn: "t_1", practice: true });
    await gateway.start();
    await back();
    await shows("Hello there.");
    expect(count("answered")).toBe(1);
  });

  it("whoever was only cut off gets what it missed by number", async () => {
    await open();
    await say("hi");
    gateway.cut();
    await shows("No connection since");
    end("t_1");
    await back();
    await shows("answered");
    expect(gateway.logins.at(-1)).toMatchObject({ boot: "boot-1", lastSeq: 0 });
    expect(count("reconnected")).toBe(1);
    expect(count("Hello there.")).toBe(1);
  });

  it("what is sent meanwhile is kept, and sent once under its key (CHAT-2, CHAT-6)", async () => {
    await open();
    await gateway.stop();
    await shows("Your messages will wait.");
    ran.type("while away\r");
    await shows("› while away");
    await settled();
    expect(gateway.callsOf("chat.send")).toEqual([]);
    await gateway.start();
    await back();
    const timer = setInterval(() => clock.advance(300), 5);
    await until(() => gateway.callsOf("chat.send").length > 0);
    clearInterval(timer);
    await settled();
    expect(gateway.callsOf("chat.send")).toMatchObject([{ message: "while away", idempotencyKey: expect.any(String) }]);
  });
});
