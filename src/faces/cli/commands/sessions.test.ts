import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { AppError } from "../../../core/domain/index.ts";
import { ManualClock } from "../../../core/kit/index.ts";
import type { HistoryMessage, SessionSummary } from "../../../core/protocol/index.ts";
import { cli, type FakeGateway, fakeGateway, type Handlers, NOW, type RunOptions, SESSION, until } from "../testing.ts";

let gateway: FakeGateway;
afterEach(() => gateway.close());

async function run(argv: string[], handlers: Handlers, options: Partial<RunOptions> = {}) {
  gateway = await fakeGateway(handlers);
  const ran = cli(argv, { home: gateway.home, clock: new ManualClock(NOW), ...options });
  return { code: await ran.code, out: ran.out(), err: ran.err() };
}

const summary = (session: string, over: Partial<SessionSummary> = {}): SessionSummary => ({
  session,
  agent: "main",
  title: "Flight to Lisbon",
  messages: 12,
  createdAt: NOW - 1e6,
  updatedAt: NOW - 720_000,
  ...over,
});
const line = (seq: number): HistoryMessage => ({
  session: SESSION,
  seq,
  id: `m${seq}`,
  turn: "t_1",
  role: "user",
  content: [{ type: "text", text: `message ${seq}` }],
  timestamp: "2026-06-15T14:02:10.000Z",
});
const missing = () => {
  throw new AppError("NOT_FOUND", { message: "no" });
};

describe("lists that are cut", () => {
  const turn = (id: string) => ({ turn: id, session: SESSION, agent: "main", state: "answered", acceptedAt: NOW });
  it.each([
    [
      ["sessions", "list", "--limit", "2"],
      { "sessions.list": () => ({ sessions: [summary("a"), summary("b")], total: 9 }) },
      "9 conversations, newest last; showing the newest 2 of 9.",
    ],
    [
      ["turns", "list", "--limit", "2"],
      { "turns.list": () => ({ turns: [turn("b"), turn("a")], total: 7 }) },
      "7 turns, newest last; showing the newest 2 of 7.",
    ],
    [["turns", "list"], { "turns.list": () => ({ turns: [turn("b"), turn("a")], total: 2 }) }, "2 turns, newest last."],
  ] as [string[], Handlers, string][])("%j says how many there are", async (argv, handlers, first) => {
    const { out } = await run(argv, handlers);
    expect(out.split("\n")[0]).toBe(first);
  });
});

describe("sessions", () => {
  it("list marks a conversation that works, waits for a person or ended in a failure", async () => {
    const last = (state: "answered" | "failed" | "parked" | "attention") => ({ last: { turn: "t_1", state } });
    const sessions = [
      summary("agent:main:a", last("failed")),
      summary("agent:main:b", last("answered")),
      summary("agent:main:c", last("parked")),
      summary("agent:main:d", last("attention")),
      summary("agent:main:e", { ...last("failed"), running: "t_2" }),
      summary("agent:main:f", { last: { turn: "t_1", state: "declined", failure: "budget" } }),
    ];
    const { out } = await run(["sessions", "list"], { "sessions.list": () => ({ sessions }) });
    const marks = out
      .split("\n")
      .slice(1, 7)
      .map((row) => row.slice(2, 3));
    expect(marks).toEqual([expect.stringMatching(/\S/), "●", "?", "◐", " ", "✕"]);
  });

  it("get gives no ✓ to words of a turn that failed", async () => {
    const message: HistoryMessage = {
      ...line(1),
      role: "assistant",
      content: [{ type: "text", text: "Let me look." }],
    };
    const { out } = await run(["sessions", "get", SESSION], {
      "sessions.get": () => summary(SESSION),
      "turns.list": () => ({
        turns: [
          { turn: "t_1", session: SESSION, agent: "main", state: "failed", acceptedAt: NOW, reason: "It broke." },
        ],
      }),
      "chat.history": () => ({ session: SESSION, messages: [message], more: false }),
    });
    expect(out).toContain("· Let me look.");
    expect(out).not.toContain("✓");
  });

  it("get gives a ✓ to answers only, not to a message whose command failed", async () => {
    const call: HistoryMessage = {
      ...line(1),
      role: "assistant",
      content: [{ type: "tool-call", id: "c", name: "exec", input: { command: "false" } }],
    };
    const answer: HistoryMessage = { ...line(2), role: "assistant", content: [{ type: "text", text: "It failed." }] };
    const { out } = await run(["sessions", "get", SESSION], {
      "sessions.get": () => summary(SESSION),
      "turns.list": () => ({ turns: [] }),
      "chat.history": () => ({ session: SESSION, messages: [call, answer], more: false }),
    });
    expect(out).toContain("· [exec");
    expect(out).toContain("✓ It failed.");
  });

  it("list is a sentence and aligned rows, newest last", async () => {
    const sessions = [summary("agent:main:b"), summary("agent:main:long-key", { messages: 1, updatedAt: NOW - 1e8 })];
    const { out } = await run(["sessions", "list", "--search", "fl"], { "sessions.list": () => ({ sessions }) });
    expect(out.split("\n")).toEqual([
      "2 conversations, newest last.",
      "     agent:main:long-key  1 message    1 d 3 h ago  Flight to Lisbon",
      "     agent:main:b         12 messages  12 min ago   Flight to Lisbon",
      "",
    ]);
    expect(gateway.callsOf("sessions.list")).toEqual([{ search: "fl" }]);
  });

  it("get of a key that is nearly one names the right one", async () => {
    const { code, err } = await run(["sessions", "get", "agent:main:http:owner:onwer"], {
      "sessions.get": missing,
      "sessions.list": () => ({ sessions: [summary(SESSION)] }),
    });
    expect(err).toContain(`Did you mean "${SESSION}"?`);
    expect(code).toBe(5);
  });

  it("reset says what stays", async () => {
    const { out, code } = await run(["sessions", "reset", SESSION], {
      "sessions.reset": (p) => ({ session: p.session }),
    });
    expect(out).toContain("still read the earlier messages");
    expect(code).toBe(0);
  });
});

describe("export and import", () => {
  const handlers: Handlers = { "sessions.export": () => ({ session: SESSION, lines: [line(1), line(2)] }) };

  it("export writes JSON Lines to stdout, with or without --json", async () => {
    const { out, err } = await run(["sessions", "export", SESSION], handlers);
    expect(
      out
        .split("\n")
        .filter(Boolean)
        .map((l) => JSON.parse(l) as unknown),
    ).toEqual([line(1), line(2)]);
    expect(err).toBe("");
  });

  it("export -o writes a file of the owner's alone and replaces an old one whole", async () => {
    gateway = await fakeGateway(handlers);
    const file = join(gateway.home, "out.jsonl");
    writeFileSync(file, "old and longer than what comes".repeat(100), { mode: 0o644 });
    const ran = cli(["sessions", "export", SESSION, "-o", file], { home: gateway.home });
    expect(await ran.code).toBe(0);
    expect(readFileSync(file, "utf8")).toBe(`${JSON.stringify(line(1))}\n${JSON.stringify(line(2))}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(ran.out()).toBe("");
    expect(ran.err()).toBe(`Wrote 2 messages to ${file}.\n`);
  });

  it("export -o follows a link and leaves it a link, whether or not its target is there", async () => {
    gateway = await fakeGateway(handlers);
    const { home } = gateway;
    const whole = `${JSON.stringify(line(1))}\n${JSON.stringify(line(2))}\n`;
    writeFileSync(join(home, "old.jsonl"), "old");
    for (const target of ["old.jsonl", "new.jsonl"]) {
      const link = join(home, `to-${target}`);
      symlinkSync(target, link);
      expect(await cli(["sessions", "export", SESSION, "-o", link], { home }).code).toBe(0);
      expect(lstatSync(link).isSymbolicLink()).toBe(true);
      expect(readFileSync(join(home, target), "utf8")).toBe(whole);
      expect(statSync(link).mode & 0o777).toBe(0o600);
    }
  });

  it("export -o writes into a pipe and leaves it a pipe; a folder is refused", async () => {
    gateway = await fakeGateway(handlers);
    const { home } = gateway;
    const pipe = join(home, "out");
    execFileSync("mkfifo", [pipe]);
    // Open for both, so that nobody waits for the other side.
    const reader = openSync(pipe, "r+");
    try {
      expect(await cli(["sessions", "export", SESSION, "-o", pipe], { home }).code).toBe(0);
      expect(lstatSync(pipe).isFIFO()).toBe(true);
      const got = Buffer.alloc(65_536);
      const whole = `${JSON.stringify(line(1))}\n${JSON.stringify(line(2))}\n`;
      expect(got.toString("utf8", 0, readSync(reader, got))).toBe(whole);
    } finally {
      closeSync(reader);
    }
    const folder = join(home, "folder");
    mkdirSync(folder);
    const refused = cli(["sessions", "export", SESSION, "-o", folder], { home });
    expect(await refused.code).toBe(2);
    expect(refused.err()).toContain(`Couldn't write ${folder} (EISDIR).`);
  });

  it("export -o to a place that is not there says so and leaves nothing", async () => {
    const { code, err } = await run(["sessions", "export", SESSION, "-o", "/nowhere/at/all"], handlers);
    expect(err).toContain("Couldn't write /nowhere/at/all (ENOENT).");
    expect(code).toBe(2);
  });

  it("import says that it waits for a pipe nobody writes to, and reads it when somebody does", async () => {
    gateway = await fakeGateway({
      "sessions.import": (p) => ({ session: SESSION, imported: p.lines.length, skipped: 0 }),
    });
    const pipe = join(gateway.home, "pipe");
    execFileSync("mkfifo", [pipe]);
    const ran = cli(["sessions", "import", pipe], { home: gateway.home });
    await until(() => ran.err().includes(`${pipe} is a pipe. Waiting for data`));
    writeFileSync(pipe, `${JSON.stringify(line(1))}\n`);
    expect(await ran.code).toBe(0);
    expect(ran.out()).toContain("Imported 1 message");
  });

  it("import takes back what export gave, from stdin or a file", async () => {
    const take: Handlers = {
      "sessions.import": (p) => ({ session: SESSION, imported: p.lines.length - 1, skipped: 1 }),
    };
    const input = `${JSON.stringify(line(1))}\n\n${JSON.stringify(line(2))}\n`;
    const { out } = await run(["sessions", "import", "-", "--agent", "ada"], take, { input });
    expect(out).toBe(`Imported 1 message into ${SESSION}; 1 already there.\n`);
    expect(gateway.callsOf("sessions.import")).toEqual([{ lines: [line(1), line(2)], agent: "ada" }]);
    const file = join(gateway.home, "in.jsonl");
    writeFileSync(file, input);
    const again = cli(["sessions", "import", file, "--json"], { home: gateway.home });
    await again.code;
    expect(JSON.parse(again.out())).toEqual({ session: SESSION, imported: 1, skipped: 1 });
  });

  it("import names the line that is not JSON", async () => {
    const { code, err } = await run(["sessions", "import", "-"], {}, { input: `${JSON.stringify(line(1))}\n{oops\n` });
    expect(err).toContain("Line 2 of stdin isn't valid JSON.");
    expect(code).toBe(2);
    expect(gateway.calls).toEqual([]);
  });

  it("import of a file that is not there is not found", async () => {
    expect((await run(["sessions", "import", "/nowhere.jsonl"], {})).code).toBe(5);
    expect(existsSync("/nowhere.jsonl")).toBe(false);
  });
});

describe("what cannot be undone", () => {
  const handlers: Handlers = {
    "sessions.get": (p) => summary(p.session),
    "sessions.delete": () => ({ deleted: true, messages: 12 }),
    "sessions.prune": (p) => ({ sessions: ["a", "b"], deleted: !p.dryRun }),
  };

  it.each([[["sessions", "delete", SESSION]], [["sessions", "prune", "--older-than", "30"]]])(
    "%s never asks without a terminal",
    async (argv) => {
      const { code, err } = await run(argv, handlers, { input: "y\n" });
      expect(err).toContain("Add --yes to confirm.");
      expect(code).toBe(2);
      expect(gateway.callsOf("sessions.delete")).toEqual([]);
      expect(gateway.callsOf("sessions.prune")).not.toContainEqual({ olderThanDays: 30 });
    },
  );

  it("nor with --no-input", async () => {
    const { code } = await run(["sessions", "delete", SESSION, "--no-input"], handlers, { tty: true });
    expect(code).toBe(2);
  });

  it.each([
    ["y\n", 0, 1],
    ["\n", 7, 0],
    ["no\n", 7, 0],
  ])("delete asks and %j ends with %i", async (answer, exit, deletions) => {
    gateway = await fakeGateway(handlers);
    const ran = cli(["sessions", "delete", SESSION], { home: gateway.home, tty: true });
    await until(() => ran.err().includes("[y/N]"));
    expect(ran.err()).toContain(`Delete ${SESSION} with 12 messages?`);
    ran.type(answer);
    expect(await ran.code).toBe(exit);
    expect(gateway.callsOf("sessions.delete")).toHaveLength(deletions);
  });

  it("--yes answers", async () => {
    const { code, out } = await run(["sessions", "prune", "--older-than", "30", "--yes"], handlers);
    expect(code).toBe(0);
    expect(out).toBe("Deleted 2 conversations.\n");
    expect(gateway.callsOf("sessions.prune")).toEqual([{ olderThanDays: 30, dryRun: true }, { olderThanDays: 30 }]);
  });

  it("--dry-run only shows", async () => {
    const { out } = await run(["sessions", "prune", "--older-than", "30", "--dry-run"], handlers);
    expect(out).toBe("2 conversations would be deleted.\n  a\n  b\n");
    expect(gateway.callsOf("sessions.prune")).toEqual([{ olderThanDays: 30, dryRun: true }]);
  });
});
