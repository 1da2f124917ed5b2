/** CLI-3: hints name the command that works here; words of people, models and tools are printed as they are. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it, test } from "vitest";
import { ManualClock } from "../../core/kit/index.ts";
import { asCalled } from "../../core/protocol/client.ts";
import {
  approval,
  cli,
  type FakeGateway,
  fakeGateway,
  type Handlers,
  NOW,
  type RunOptions,
  SESSION,
  turnDetail,
} from "./testing.ts";

let gateway: FakeGateway | undefined;
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
});

/** How a clone is called. */
const HERE = "node bin/lares.js";
/** What somebody wrote. */
const WORDS = "Then run lares chat, or lares memory list";

async function inClone(argv: string[], handlers: Handlers, options: Partial<RunOptions> = {}) {
  gateway = await fakeGateway(handlers);
  const program = { here: HERE, anywhere: HERE, told: HERE };
  const ran = cli(argv, { home: gateway.home, clock: new ManualClock(NOW + 60_000), program, ...options });
  return { code: await ran.code, out: ran.out(), err: ran.err() };
}

const session = { session: SESSION, agent: "main", title: WORDS, messages: 1, createdAt: NOW, updatedAt: NOW };
const fact = { id: "f_000000abc123", text: WORDS, kind: "fact", scope: "shared", trust: "owner", at: NOW };
const message = {
  session: SESSION,
  seq: 1,
  id: "m1",
  turn: "t_1",
  role: "user" as const,
  content: [{ type: "text" as const, text: WORDS }],
  timestamp: new Date(NOW).toISOString(),
};
const job = {
  id: "sc_0000aa1111",
  name: WORDS,
  words: "daily",
  when: { kind: "cron" as const, text: "0 7 * * *" },
  timeoutS: 600,
  bestEffort: false,
  deleteAfterRun: false,
  keepHours: 24,
  alertAfter: 2,
  mayPlan: false,
  quiet: false,
  agent: "main",
  prompt: WORDS,
  session: "isolated",
  zone: "UTC",
  catchUp: "once" as const,
  enabled: true,
  declared: false,
  next: NOW + 1,
  failures: 0,
  recent: [],
};
const part = { kind: "text" as const, text: WORDS, tokens: 1, sent: false, kept: false, mark: false };

const CASES: [string, string[], Handlers][] = [
  ["a fact", ["memory", "list"], { "memory.list": () => ({ facts: [{ ...fact, state: "live" }] }) }],
  [
    "a message and a title",
    ["sessions", "get", SESSION],
    {
      "sessions.get": () => session,
      "turns.list": () => ({ turns: [] }),
      "chat.history": () => ({ session: SESSION, messages: [message], more: false }),
    },
  ],
  ["a title in a list", ["sessions", "list"], { "sessions.list": () => ({ sessions: [session] }) }],
  [
    "a schedule's name and prompt",
    ["schedule", "update", "sc_0000aa1111", "--pause"],
    {
      "schedule.list": () => ({ jobs: [job], total: 1, planned: 1 }),
      "schedule.update": () => ({ ...job, name: "plants" }),
    },
  ],
  [
    "a schedule's name in a list",
    ["schedule", "list"],
    { "schedule.list": () => ({ jobs: [job], total: 1, planned: 1 }) },
  ],
  [
    "a line of the log",
    ["logs"],
    {
      "logs.tail": () => ({
        lines: [{ seq: 1, level: "info", time: "2026-11-15T12:00:00.000Z", room: "turns", what: WORDS }],
      }),
    },
  ],
  [
    "what a model would read",
    ["context", SESSION, "--request"],
    {
      "context.request": () => ({
        session: SESSION,
        agent: "main",
        body: "",
        model: "m",
        api: "anthropic",
        tokens: 1,
        bytes: 1,
        cache: "none",
        full: false,
        parts: [part],
      }),
    },
  ],
  [
    "an action that asks",
    ["approvals", "get", "abc123"],
    { "approvals.list": () => ({ approvals: [approval({ shown: WORDS })] }) },
  ],
  [
    "actions that ask, in a list",
    ["approvals", "list"],
    { "approvals.list": () => ({ approvals: [approval({ shown: WORDS })] }) },
  ],
  ["an answer", ["turns", "get", "t_1"], { "turns.get": () => turnDetail({ response: WORDS }) }],
  [
    "an action on the list of what needs a person",
    ["attention"],
    {
      "attention.list": () => ({
        items: [{ id: "approval:ap_1", kind: "approval", at: NOW, text: WORDS, dismissible: false }],
        total: 1,
      }),
    },
  ],
];

describe("words that are not ours are printed as they are", () => {
  it.each(CASES)("%s", async (_what, argv, handlers) => {
    const { code, out } = await inClone(argv, handlers, { columns: 200 });
    expect(code).toBe(0);
    expect(out).toContain(WORDS);
  });
});

describe("our own hints name the command that works here", () => {
  it("in a sentence, beside words that stay", async () => {
    const { out } = await inClone(["memory", "add", "x"], {
      "memory.add": () => ({ id: "f_000000abc123", state: "live" }),
    });
    expect(out).toBe(`Remembered. Forget it: ${HERE} memory forget abc123\n`);
  });

  it("in a card, an error's hint and a finding's", async () => {
    const card = await inClone(["approvals", "get", "abc123"], {
      "approvals.list": () => ({ approvals: [approval()] }),
    });
    expect(card.out).toContain(`Allow: ${HERE} approve abc123   Deny: ${HERE} deny abc123`);
    await gateway?.close();
    const error = await inClone(["memory", "decide", "x", "perhaps"], {});
    expect(error.err).toContain(`${HERE} memory decide`);
    await gateway?.close();
    const audit = await inClone(["security", "audit"], {
      "security.audit": () => ({
        worst: "warn",
        findings: [{ id: "t", level: "warn", text: "A token is old.", hint: "lares tokens revoke" }],
      }),
    });
    expect(audit.out).toContain(`${HERE} tokens revoke`);
  });
});

describe("memory and imports say what is there", () => {
  it("a fact that expires is shown with the time", async () => {
    const facts = [{ ...fact, text: "Parked on level 3", state: "live" as const, expiresAt: NOW + 3_600_000 }];
    const { out } = await inClone(["memory", "list"], { "memory.list": () => ({ facts }) });
    expect(out).toMatch(/Parked on level 3 {2}until 2025-06-1\d \d\d:\d\d/);
  });

  it("an import names what waits, and nothing when nothing does", async () => {
    const item = (what: "file" | "memory" | "session", state: "new" | "there already") => ({
      what,
      state,
      from: "x",
      name: "n",
      becomes: "b",
    });
    const run = async (...items: ReturnType<typeof item>[]) => {
      const { out } = await inClone(["import", "hermes", "/x"], {
        "import.run": () => ({ items, dryRun: false }),
      });
      await gateway?.close();
      gateway = undefined;
      return out;
    };
    expect(await run(item("session", "new"), item("file", "there already"))).not.toContain("for you");
    const both = await run(item("file", "new"), item("memory", "new"), item("memory", "new"));
    expect(both).toContain(`1 proposed file and 2 facts are waiting for you: ${HERE} import proposals`);
  });
});

describe("attention in a narrow terminal", () => {
  const name = `news-${"x".repeat(60)}`;
  it("keeps a command on one line, whole", async () => {
    const { out } = await inClone(
      ["attention"],
      {
        "attention.list": () => ({
          items: [
            {
              id: `watch:${name}`,
              kind: "watch",
              at: NOW,
              dismissible: false,
              text: `${name} is paused: It stopped Lares twice. To resume: lares watch resume ${name}`,
            },
            { id: "turn:t_9", kind: "turn", at: NOW, text: "It failed.", dismissible: true, turn: "t_9" },
          ],
          total: 2,
        }),
      },
      { tty: true, columns: 40 },
    );
    expect(out).toContain(`${HERE} watch resume ${name}\n`);
    expect(out).toContain(`     ${HERE} turns get t_9\n`);
  });
});

/** What makes a text a hint, and what prints it as it is: the nearest one before a command says which it is. */
const HINTED = /\bhint`|\b(?:usage|bad|warn|off|ok|pick)\(|\b(?:hint|fix|list|empty):|\bHINTS\b|error\.hint \?\?/g;
const PRINTED = /\b(?:say|note|print|paint|table)\(|\breturn\b/g;

test("each command named in a text of the command line is in a hint, so that no clone shows one that fails", () => {
  const root = fileURLToPath(new URL(".", import.meta.url));
  const wrong: string[] = [];
  const files = (readdirSync(root, { recursive: true }) as string[]).filter(
    (file) => /(?<!\.test)\.ts$/.test(file) && !/^(words\/|help\.ts|print\.ts|testing\.ts)/.test(file),
  );
  for (const file of files) {
    const text = readFileSync(join(root, file), "utf8").replace(/^ *(?:\/\*\*|\*|\/\/).*$/gm, "");
    for (let at = text.indexOf("lares "); at >= 0; at = text.indexOf("lares ", at + 1)) {
      const rest = text.slice(at, at + 40);
      if (asCalled(rest, HERE) === rest) continue;
      const before = text.slice(Math.max(0, at - 400), at);
      if (lastOf(before, HINTED) <= lastOf(before, PRINTED)) wrong.push(`${file}: ${rest.split("\n")[0]}`);
    }
  }
  expect(wrong).toEqual([]);
});

function lastOf(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].at(-1)?.index ?? -1;
}
