/** Schedules, memory and policy, as their rooms answer. */

import { afterEach, describe, expect, it } from "vitest";
import { pretend } from "../../../../test/support/pretend.ts";
import { ManualClock } from "../../../core/kit/index.ts";
import type { Result } from "../../../core/protocol/index.ts";
import { cli, type FakeGateway, fakeGateway, NOW, type Ran, type RunOptions, until } from "../testing.ts";

type Job = Result<"schedule.add">;
type Slot = Result<"schedule.history">["slots"][number];

let gateway: FakeGateway;
afterEach(() => gateway.close());

async function start(argv: string[], more: FakeGateway["more"], options: Partial<RunOptions> = {}): Promise<Ran> {
  gateway = await fakeGateway({}, more);
  return cli(argv, { home: gateway.home, clock: new ManualClock(NOW), ...options });
}

async function run(argv: string[], more: FakeGateway["more"], options: Partial<RunOptions> = {}) {
  const ran = await start(argv, more, options);
  return { code: await ran.code, out: ran.out(), err: ran.err() };
}

describe("schedule", () => {
  const job = (over: Partial<Job> = {}): Job => ({
    id: "sc_0000aa1111",
    name: "mail",
    words: "weekdays 07:00, Lisbon",
    when: { kind: "cron", text: "0 7 * * 1-5" },
    timeoutS: 600,
    bestEffort: false,
    deleteAfterRun: false,
    keepHours: 24,
    alertAfter: 2,
    mayPlan: false,
    quiet: false,
    agent: "main",
    prompt: "Summarise my mail",
    session: "isolated",
    zone: "Europe/Lisbon",
    catchUp: "once",
    enabled: true,
    declared: false,
    next: NOW + 1_620_000,
    failures: 0,
    recent: [],
    ...over,
  });
  const plants = job({
    id: "sc_0000bb2222",
    name: "plants",
    next: NOW + 86_400_000,
    last: { due: NOW, state: "failed" },
  });
  const paused = job({ id: "sc_0000cc3333", name: "old", enabled: false, next: undefined, declared: true });
  const jobs = { "schedule.list": () => ({ jobs: [job(), plants, paused], total: 3, planned: 2 }) };

  it("list answers when the next one is, and that one stands last", async () => {
    const { out } = await run(["schedule", "list"], jobs);
    const lines = out.trimEnd().split("\n");
    expect(lines[0]).toBe("3 schedules; the next, mail, in 27 min.");
    expect(lines[1]).toMatch(/– {2}cc3333 {2}old {5}weekdays 07:00, Lisbon {2}paused +from lares\.yaml/);
    expect(lines[2]).toMatch(/○ {2}bb2222 {2}plants .* in 1 d +✕ failed/);
    expect(lines[3]).toMatch(/○ {2}aa1111 {2}mail .* in 27 min/);
    await gateway.close();
    const none = await run(["schedule", "list"], { "schedule.list": () => ({ jobs: [], total: 0, planned: 0 }) });
    expect(none.out).toContain("Nothing scheduled. Add one: lares schedule add");
  });

  it("list follows the pages as far as it is asked to, and says what it left out", async () => {
    const all = Array.from({ length: 620 }, (_, i) => job({ id: `sc_${i}`, name: `job-${i}`, next: NOW + i * 60_000 }));
    const asked: number[] = [];
    const paged = {
      "schedule.list": ({ limit = 100, cursor = "0" }: { limit?: number; cursor?: string }) => {
        asked.push(limit);
        const end = Number(cursor) + limit;
        const more = end < all.length ? { cursor: String(end) } : {};
        return { jobs: all.slice(Number(cursor), end), total: all.length, planned: all.length, ...more };
      },
    };
    const few = await run(["schedule", "list"], pretend(paged));
    expect(few.out).toMatch(/^620 schedules; the next, job-0.*\n.*520 later ones: --limit 620/);
    expect(few.out.trimEnd().split("\n")).toHaveLength(102);
    await gateway.close();
    const every = await run(["schedule", "list", "--limit", "1000", "--json"], pretend(paged));
    expect(every.out.match(/"name":\s*"job-/g)).toHaveLength(620);
    expect(asked).toEqual([100, 500, 500]);
  });

  it("add sends what was said and tells when it runs", async () => {
    const argv = ["schedule", "add", "Summarise my mail", "--cron", "0 7 * * 1-5", "--zone", "Europe/Lisbon"];
    const more = [
      "--name",
      "mail",
      "--deliver",
      "telegram/main/-100/7",
      "--thread",
      "9",
      "--catch-up",
      "skip",
      "--agent",
      "main",
    ];
    const { out, code } = await run([...argv, ...more], { "schedule.add": () => job() });
    expect(gateway.callsOf("schedule.add")).toEqual([
      {
        prompt: "Summarise my mail",
        cron: "0 7 * * 1-5",
        zone: "Europe/Lisbon",
        name: "mail",
        agent: "main",
        catchUp: "skip",
        deliver: { channel: "telegram", account: "main", chat: "-100/7", thread: "9" },
      },
    ]);
    expect(out).toContain("Scheduled as mail: weekdays 07:00, Lisbon; next in 27 min.");
    expect(code).toBe(0);
  });

  it.each([
    [["add", "x"], "Say when it should run."],
    [["add", "x", "--in", "1 h", "--every", "1 h"], "Use only one of"],
    [["add", "x", "--in", "1 h", "--deliver", "telegram"], "isn't a delivery target"],
    [["add", "x", "--in", "1 h", "--catch-up", "never"], "once, all, skip"],
    [["update", "mail"], "Say what to change."],
    [["update", "mail", "--pause", "--resume"], "not both"],
  ])("%s is wrong usage, and nothing is sent", async (argv, message) => {
    const { code, err } = await run(["schedule", ...argv], jobs);
    expect(err).toContain(message);
    expect(code).toBe(2);
    expect(gateway.calls).toEqual([]);
  });

  it("update finds it by name or ending and changes only what was named", async () => {
    const more = { ...jobs, "schedule.update": () => job({ enabled: false }) };
    const { out } = await run(["schedule", "update", "mail", "--pause"], more);
    expect(gateway.callsOf("schedule.update")).toEqual([{ id: job().id, enabled: false }]);
    expect(out).toContain("Paused mail: weekdays 07:00, Lisbon.");
    await gateway.close();
    await run(["schedule", "update", "mail", "--deliver", "none"], more);
    expect(gateway.callsOf("schedule.update")).toEqual([{ id: job().id, deliver: null }]);
    await gateway.close();
    await run(["schedule", "update", "bb2222", "--every", "2 days", "--prompt", "Water"], more);
    expect(gateway.callsOf("schedule.update")).toEqual([{ id: plants.id, every: "2 days", prompt: "Water" }]);
  });

  it("remove asks first; without a terminal only --yes removes", async () => {
    const more = { ...jobs, "schedule.remove": () => ({ removed: true }) };
    const asked = await start(["schedule", "remove", "mail"], more, { tty: true });
    await until(() => asked.err().includes("Remove mail (weekdays 07:00, Lisbon)?"));
    asked.type("n\n");
    expect(await asked.code).toBe(7);
    expect(gateway.callsOf("schedule.remove")).toEqual([]);
    await gateway.close();
    expect((await run(["schedule", "remove", "mail"], more)).code).toBe(2);
    expect(gateway.callsOf("schedule.remove")).toEqual([]);
    await gateway.close();
    expect((await run(["schedule", "remove", "mail", "--yes"], more)).out).toBe("Removed mail.\n");
    expect(gateway.callsOf("schedule.remove")).toEqual([{ id: job().id }]);
  });

  it("run names the turn; a wrong name gets the nearest", async () => {
    const more = { ...jobs, "schedule.run": () => ({ turn: "t_9" }) };
    expect((await run(["schedule", "run", "plants"], more)).out).toContain("lares turns get t_9");
    expect(gateway.callsOf("schedule.run")).toEqual([{ id: plants.id }]);
    await gateway.close();
    const wrong = await run(["schedule", "run", "plnats"], more);
    expect(wrong.err).toBe('There is no schedule "plnats". Did you mean "plants"?\n');
    expect(wrong.code).toBe(5);
  });

  it("history tells each run with its reason, newest last", async () => {
    const slots: Slot[] = [
      { due: NOW + 86_400_000, state: "pending" },
      { due: NOW, state: "missed", reason: "Lares was not running." },
      { due: NOW - 500, state: "parked", approval: "abc123", turn: "t_2", startedAt: NOW },
      { due: NOW - 1000, state: "done", turn: "t_1", startedAt: NOW, endedAt: NOW + 4200 },
    ];
    const more = { ...jobs, "schedule.history": () => ({ slots }) };
    const { out } = await run(["schedule", "history", "mail", "--limit", "4"], more);
    expect(gateway.callsOf("schedule.history")).toEqual([{ id: job().id, limit: 5 }]);
    const lines = out.trimEnd().split("\n");
    expect(lines[0]).toBe("mail: 3 runs, 1 failed or missed.");
    expect(lines[1]).toMatch(/✓ done .* 4\.2 s {2}t_1/);
    expect(lines[2]).toMatch(/◐ waiting for you .* t_2 {2}lares approve abc123$/);
    expect(lines[3]).toMatch(/✕ missed .* Lares was not running\./);
    expect(lines[4]).toContain("○ pending");
    await gateway.close();
    const cut = await run(["schedule", "history", "mail", "--limit", "3"], more);
    expect(cut.out.split("\n")[0]).toBe("mail: the last 2 runs, 1 failed or missed.");
  });

  it("history doesn't count what was skipped as runs", async () => {
    const slots: Slot[] = [
      { due: NOW, state: "skipped", reason: "Nothing changed." },
      { due: NOW - 500, state: "skipped" },
      { due: NOW - 1000, state: "done", turn: "t_1", startedAt: NOW, endedAt: NOW + 4200 },
    ];
    const { out } = await run(["schedule", "history", "mail"], { ...jobs, "schedule.history": () => ({ slots }) });
    expect(out.split("\n")[0]).toBe("mail: 1 run, none failed or missed, and 2 skipped.");
  });
});

describe("memory", () => {
  const fact = { kind: "fact", scope: "shared", state: "live", trust: "owner" } as const;
  const facts = [
    { ...fact, id: "m_0000000002", text: "Ana likes\u001b[2J tea", source: "chat", at: NOW - 60_000 },
    { ...fact, id: "m_0000000001", text: "The cat is Tom", source: "telegram", at: NOW - 3_600_000 },
  ];
  const more: FakeGateway["more"] = {
    "memory.list": () => ({ facts }),
    "memory.search": () => ({ results: facts.map((fact) => ({ ...fact, score: 1 })) }),
    "memory.add": () => ({ id: "m_0000000003", state: "live" }),
    "memory.forget": () => ({ forgotten: true }),
  };

  it("list says that there are more than it shows", async () => {
    const { out } = await run(["memory", "list", "--limit", "1"], more);
    expect(out.split("\n")[0]).toBe("More than 1 fact, newest last; showing the newest 1.");
    expect(out).toContain("Ana likes");
    expect(out).not.toContain("The cat is Tom");
  });

  it("list has the newest last, search the best first; both with their source", async () => {
    const { out } = await run(["memory", "list"], more);
    const lines = out.trimEnd().split("\n");
    expect(lines[0]).toBe("2 facts, newest last.");
    expect(lines[2]).toMatch(/000002 {2}1 min ago {2}Ana likes\\x1b\[2J tea {2}chat/);
    await gateway.close();
    const found = await run(["memory", "search", "tea", "--limit", "5", "--scope", "ana"], more);
    expect(gateway.callsOf("memory.search")).toEqual([{ query: "tea", limit: 5, scope: "ana" }]);
    expect(found.out.split("\n")[1]).toContain("Ana likes");
    await gateway.close();
    const none = await run(["memory", "search", "tea"], { "memory.search": () => ({ results: [] }) });
    expect(none.out).toBe('Nothing found for "tea".\n');
  });

  it("add keeps a text or stdin, and refuses nothing", async () => {
    const { out } = await run(["memory", "add", "Tom eats fish", "--source", "me"], more);
    expect(gateway.callsOf("memory.add")).toEqual([{ text: "Tom eats fish", source: "me" }]);
    expect(out).toContain("lares memory forget 000003");
    await gateway.close();
    await run(["memory", "add", "-"], more, { input: "from a pipe\n" });
    expect(gateway.callsOf("memory.add")).toEqual([{ text: "from a pipe" }]);
    await gateway.close();
    expect((await run(["memory", "add", "  "], more)).code).toBe(2);
    expect(gateway.calls).toEqual([]);
  });

  it("forget shows what goes and asks first", async () => {
    const ran = await start(["memory", "forget", "000001"], more, { tty: true });
    await until(() => ran.err().includes('Forget "The cat is Tom"?'));
    ran.type("y\n");
    expect(await ran.code).toBe(0);
    expect(gateway.callsOf("memory.forget")).toEqual([{ id: "m_0000000001" }]);
    await gateway.close();
    const none = await run(["memory", "forget", "nothing", "--yes"], more);
    expect(none.code).toBe(5);
    expect(gateway.callsOf("memory.forget")).toEqual([]);
  });
});

describe("policy rules and forget", () => {
  const kept = (end: string, rule: string, used: number) => ({
    agent: "main",
    rule,
    approval: `ap_00000000${end}`,
    madeBy: "anna",
    madeAt: 1_000,
    used,
    usedAt: used ? 2_000 : null,
  });
  const more = {
    "approvals.rules": () => ({ rules: [kept("aaaa11", 'exec "touch" "a"', 3), kept("bbbb22", 'write "/x"', 0)] }),
    "approvals.forget": () => ({ forgotten: true }),
  };

  it("shows what each has allowed so far", async () => {
    const { out, code } = await run(["policy", "rules"], more);
    expect(out).toMatch(/aaaa11 +main +used 3 times, last .+created .+exec "touch" "a"/);
    expect(out).toMatch(/bbbb22 +main +not used yet .+write "\/x"/);
    expect(code).toBe(0);
    await gateway.close();
  });

  it("takes one back by its id", async () => {
    const { out, code } = await run(["policy", "forget", "bbbb22"], more);
    expect(gateway.callsOf("approvals.forget")).toEqual([
      expect.objectContaining({ agent: "main", rule: 'write "/x"' }),
    ]);
    expect(out).toContain('Removed: write "/x"');
    expect(code).toBe(0);
    await gateway.close();
  });

  it("says so when there is none of that id", async () => {
    const { err, code } = await run(["policy", "forget", "cccc33"], more);
    expect(err).toContain("No saved rule");
    expect(code).not.toBe(0);
    expect(gateway.callsOf("approvals.forget")).toEqual([]);
    await gateway.close();
  });
});

describe("policy explain", () => {
  it.each([
    ["allow", "✓ It would run without asking: It is listed."],
    ["ask", "◐ It would ask you first: It is listed."],
    ["deny", "✕ It would be denied: It is listed."],
  ] as const)("%s in words, then the gate's account", async (verdict, first) => {
    const text = `${verdict.toUpperCase()}: It is listed.\nmode ask; started without a shell\n  rm\u001b[2J build`;
    const answer = {
      verdict,
      because: "It is listed.",
      mode: "ask",
      form: "argv",
      rule: "rm build",
      text,
      commands: [],
      parts: [],
    };
    const more = { "policy.explain": () => answer };
    const { out, code } = await run(["policy", "explain", "rm build", "--agent", "main"], more);
    expect(gateway.callsOf("policy.explain")).toEqual([{ command: "rm build", agent: "main" }]);
    const rule = verdict === "ask" ? '  "Always allow" would save: rm build\n' : "";
    expect(out).toBe(`${first}\n  mode ask; started without a shell\n    rm\\x1b[2J build\n${rule}`);
    expect(code).toBe(0);
    await gateway.close();
    const json = await run(["policy", "explain", "x", "--json"], more);
    expect(JSON.parse(json.out)).toEqual(answer);
  });
});

describe("context", () => {
  const ledger: Result<"context.get"> = {
    session: "agent:main:main",
    agent: "main",
    model: "local/small",
    window: 8192,
    tokens: 4096,
    counted: true,
    threshold: 6144,
    limit: 7372,
    sections: [
      { name: "instructions", tokens: 200, stable: "session" },
      { name: "tools", tokens: 800, stable: "session" },
      { name: "remembered", tokens: 0, stable: "until compacted" },
      { name: "messages", tokens: 3096, stable: "grows" },
    ],
    messages: { shown: 12, older: 300 },
    notes: { remembered: "", carried: "About the person:\n- My dog is Bruno" },
    compactions: [
      { id: "t:0", at: NOW - 60_000, how: "extract", messages: 300, before: 5000, after: 900, state: "in force" },
    ],
  };
  const argv = ["context", "agent:main:main"];

  it("shows what each part costs, leaves out what costs nothing, and the notes on request", async () => {
    const { out } = await run(argv, { "context.get": () => ledger });
    expect(out).toContain("(50%), counted by the provider; model local/small.");
    expect(out).toMatch(/messages +3\.1k tokens +▇{18}/);
    expect(out).not.toContain("remembered");
    expect(out).toContain("12 messages in full, 300 older");
    expect(out).toMatch(/Compacted 1 min ago by rules: 300 messages/);
    expect(out).not.toContain("Bruno");
    await gateway.close();
    expect((await run([...argv, "--notes"], { "context.get": () => ledger })).out).toContain("  - My dog is Bruno");
    await gateway.close();
    const { out: json } = await run([...argv, "--json"], { "context.get": () => ledger });
    expect(JSON.parse(json)).toMatchObject({ window: 8192, sections: ledger.sections });
  });

  it("prints the request part by part, with cost and cache, and the bytes with --json", async () => {
    const part = { tokens: 12, sent: true, kept: true, mark: false };
    const next: Result<"context.request"> = {
      session: "agent:main:main",
      agent: "main",
      model: "p/claude",
      api: "anthropic",
      tokens: 48,
      bytes: 300,
      full: false,
      cache: "marks",
      body: '{"model":"claude"}',
      parts: [
        { ...part, kind: "tool", name: "read", text: '{"name":"read"}' },
        { ...part, kind: "instructions", name: "Place", text: "# Place\n\nHere.\n\n", mark: true },
        { ...part, kind: "envelope", message: 0, text: "[13:09]" },
        { ...part, kind: "text", message: 0, text: "bell \u0007", sent: false, mark: true },
      ],
    };
    const asked: unknown[] = [];
    const request = (wish: unknown) => {
      asked.push(wish);
      return next;
    };
    const { out } = await run([...argv, "--request", "--say", "hello"], { "context.request": request });
    expect(asked).toEqual([{ session: "agent:main:main", text: "hello" }]);
    expect(out).toContain(
      "About 48 tokens (300 bytes) in 4 parts to p/claude over anthropic.\n75% of it was in the last",
    );
    expect(out).toContain("── tool read · 12 tokens · cached\n");
    expect(out).toContain("── instructions Place · 12 tokens · cached, cache mark here\n# Place\n\nHere.\n\n──");
    expect(out).toContain("── message 1, envelope · 12 tokens · cached\n[13:09]\n");
    expect(out).toContain("── message 1, text · 12 tokens · new, then cached, cache mark here\nbell \\x07\n");
    await gateway.close();
    const { out: json } = await run([...argv, "--request", "--json"], { "context.request": request });
    expect(JSON.parse(json)).toEqual(next);
  });

  it("compacts with a focus, says what came of it, and takes it back", async () => {
    const done = { state: "done", how: "summary", messages: 40, before: 5000, after: 900 } as const;
    const asked: unknown[] = [];
    const compact = (wish: unknown) => {
      asked.push(wish);
      return done;
    };
    const { out } = await run([...argv, "--compact", "--focus", "the trip"], { "context.compact": compact });
    expect(asked).toMatchObject([{ session: "agent:main:main", focus: "the trip" }]);
    expect(out).toMatch(/^Compacted by a model: 40 messages, .* Undo: lares context "agent:main:main" --undo/);
    await gateway.close();
    const undone = await run([...argv, "--undo"], { "context.undo": () => ({ messages: 40 }) });
    expect(undone.out).toBe("The model sees 40 messages in full again.\n");
    await gateway.close();
    expect((await run([...argv, "--undo", "--compact"], {})).err).toContain("not both");
  });
});

describe("skills", () => {
  const base = { description: "", of: "agent" as const, own: true, notes: [], folder: "/h/agents/main/skills/x" };
  const deploy = { ...base, name: "deploy", description: "Deploys the site.", state: "ready" as const };
  const bought = { ...deploy, name: "bought", own: false, imported: "hermes" };
  const mute = { ...base, name: "mute", state: "unusable" as const, why: "The front matter has no description." };

  it("list has those that can be used first, then the others with the reason", async () => {
    const more = { "skills.list": () => ({ agent: "main", skills: [bought, deploy, mute] }) };
    const { out } = await run(["skills", "list"], more);
    const lines = out.trimEnd().split("\n");
    expect(lines[0]).toBe("main has 2 skills; 1 other isn't used.");
    expect(lines[1]).toMatch(/✓ {2}bought {2}its own, imported from hermes {2}Deploys the site\./);
    expect(lines[3]).toMatch(/✕ {2}mute .*no description/);
    await gateway.close();
    const none = await run(["skills", "list"], { "skills.list": () => ({ agent: "main", skills: [] }) });
    expect(none.out).toMatch(/No skills yet\. Add a folder with a SKILL\.md to .*agents\/main\/skills\./);
  });

  it("show tells whose words they are, the files and the words; --file only that file", async () => {
    const files = [{ path: "scripts/a.sh", bytes: 3 }];
    const more = {
      "skills.get": ({ file }: { file?: string }) => ({ ...bought, files, text: file ? "echo\n" : "Run make.\n" }),
    };
    const { out } = await run(["skills", "show", "bought"], more);
    expect(out).toContain("outside text until you add its name to skills.trusted");
    expect(out).toMatch(/scripts\/a\.sh {2}3 B[\s\S]*Run make\.\n$/);
    await gateway.close();
    expect((await run(["skills", "show", "bought", "--file", "scripts/a.sh"], more)).out).toBe("echo\n");
  });
});
