/** The practice model: every rule, its honesty, and the contract it shares with the others. */
import { describe, expect, it } from "vitest";
import type { EventKind, ModelMessage } from "../../../core/domain/index.ts";
import { answered, run, shown, testModels, user } from "../testing.ts";
import { matchRule, RULES } from "./rules/index.ts";

/** Offered only where a turn may end without an answer. */
const ENDS = ["heartbeat_quiet", "stay_silent", "nothing_to_report"];
const ALL = RULES.filter(({ tool }) => !ENDS.includes(tool)).map(({ tool }) => ({
  name: tool,
  description: tool,
  input: { type: "object" },
}));
const happened = (kind: EventKind, of: string, text: string): ModelMessage => ({
  role: "user",
  content: [
    { type: "text", text: "[13:09 · something happened]", ours: true, label: { kind, text: "something happened", of } },
    { type: "text", text },
  ],
});
const ask = async (text: string, tools = ALL) => {
  const { reply, deltas } = await run(testModels({}), { messages: [user(text)], tools });
  return { ...answered(reply), deltas };
};

describe("rules", () => {
  it.each([
    ["fetch https://example.com/a", "web_fetch", { url: "https://example.com/a" }],
    ["ask a sub-agent to list files", "sessions_spawn", { task: "list files" }],
    ["what is scheduled?", "schedule_list", {}],
    ["run ls -la", "exec", { command: "ls -la" }],
    ["please run the command: git status", "exec", { command: "git status" }],
    ["execute `echo hi`", "exec", { command: "echo hi" }],
    ["Use the skill deploy.", "read", { path: "skill:deploy" }],
    ["please follow my skill tax-2026", "read", { path: "skill:tax-2026" }],
    ["read notes.txt", "read", { path: "notes.txt" }],
    ["Read the file 'my notes.txt'.", "read", { path: "my notes.txt" }],
    ["what is in src/main.ts?", "read", { path: "src/main.ts" }],
    ["write hello to notes.txt", "write", { path: "notes.txt", content: "hello" }],
    ['write "go to bed" to notes.txt', "write", { path: "notes.txt", content: "go to bed" }],
    ["create file x.txt with one two three", "write", { path: "x.txt", content: "one two three" }],
    ["create a file called a/b.md containing: # Title\ntext", "write", { path: "a/b.md", content: "# Title\ntext" }],
    ["replace a with b in f.txt", "edit", { path: "f.txt", old: "a", new: "b" }],
    ["change 'old words' to 'new words' in f.txt", "edit", { path: "f.txt", old: "old words", new: "new words" }],
    ["replace all a with b in f.txt", "edit", { path: "f.txt", old: "a", new: "b", all: true }],
    ["list files", "list", { path: "." }],
    ["list src", "list", { path: "src" }],
    ["ls", "list", { path: "." }],
    ["list the files in src/core", "list", { path: "src/core" }],
    ["search for foo", "search", { pattern: "foo" }],
    ["search for tea in the files", "search", { pattern: "tea" }],
    ["search for tea in my files", "search", { pattern: "tea" }],
    ["look for green tea in the workspace", "search", { pattern: "green tea" }],
    ["search for foo in src", "search", { pattern: "foo", path: "src" }],
    ['grep "two words" in docs', "search", { pattern: "two words", path: "docs" }],
    ["remember that I like tea", "memory_save", { text: "I like tea" }],
    ["Remember: the door code is blue", "memory_save", { text: "the door code is blue" }],
    ["what do you remember about tea?", "memory_search", { query: "tea" }],
    ["what do you know about me", "memory_search", { query: "me" }],
    ["remind me in 2 minutes to drink water", "schedule_add", { text: "drink water", in: "2 minutes" }],
    ["remind me in an hour to stretch", "schedule_add", { text: "stretch", in: "an hour" }],
    ["remind me every day at 9:00 to plan", "schedule_add", { text: "plan", every: "day at 9:00" }],
    ["remind me at 17:30 to go home", "schedule_add", { text: "go home", at: "17:30" }],
  ])("%s", async (text, tool, input) => {
    expect(matchRule(text)).toEqual({ tool, input });
    const reply = await ask(text);
    expect(reply.content).toEqual([{ type: "tool-call", id: "practice_1_0", name: tool, input }]);
    expect(reply.finish).toBe("tool-calls");
  });

  it("every rule's example matches that rule's tool", () => {
    const made = {
      schedules: ["drink-water"],
      facts: [{ id: "f1", text: "a" }],
      processes: ["p1"],
      agents: ["sub:1:0"],
    };
    for (const { example, tool } of RULES) expect(matchRule(example, made)?.tool, example).toBe(tool);
  });

  it.each([
    "how are you?",
    "show me how to cook",
    "I read a book yesterday",
    "listen",
    "look at this",
    "x".repeat(100_000),
  ])("%.40s calls no tool", (text) => {
    expect(matchRule(text)).toBeUndefined();
  });

  it("a tool that is not offered is not called; it says so, or what to set up (PRACTICE-2)", async () => {
    const tools = [ALL.find((tool) => tool.name === "read")!];
    expect(shown((await ask("remember that I like tea", tools)).deltas)).toContain(
      '"memory_save", which isn\'t available',
    );
    const search = await ask("search the web for tide tables", tools);
    expect(shown(search.deltas)).toMatch(/^Web search isn't set up yet\. Add .*lares\.yaml: web\.search/);
  });
});

describe("chat", () => {
  it.each(["hello", "who are you?", "help", "what can you do?", "explain monads"])(
    "%s says what it is",
    async (text) => {
      const reply = await ask(text);
      expect(reply).toMatchObject({ model: "practice/practice", practice: true, finish: "stop", usage: { cost: 0 } });
      expect(shown(reply.deltas)).toContain("practice model");
    },
  );

  it("where it may be silent, it is, unless it has a rule", async () => {
    const silent = [...ALL, { name: "stay_silent", description: "", input: { type: "object" } }];
    expect((await ask("the game was great, Bo", silent)).content).toMatchObject([{ name: "stay_silent" }]);
    expect((await ask("read notes.txt", silent)).content).toMatchObject([{ name: "read" }]);
    expect(shown((await ask("hello", silent)).deltas)).toContain("practice model");
  });

  it("says how to add a key, and lists only what is offered", async () => {
    expect(shown((await ask("explain monads")).deltas)).toContain("ANTHROPIC_API_KEY");
    const help = shown((await ask("help", [ALL.find((tool) => tool.name === "read")!])).deltas);
    expect(help).toContain("read notes.txt");
    expect(help).not.toContain("run ls");
  });

  it("streams word by word what it returns", async () => {
    const reply = await ask("hello");
    expect(reply.deltas.length).toBeGreaterThan(10);
    expect(reply.content).toEqual([{ type: "text", text: shown(reply.deltas) }]);
  });

  it("is chosen by LARES_MODEL, whatever keys there are", async () => {
    const models = testModels({ env: { LARES_MODEL: "practice/practice", ANTHROPIC_API_KEY: "k" } });
    expect(answered((await run(models)).reply).practice).toBe(true);
  });

  it("throws an AbortError when the signal has aborted (MODEL-2)", async () => {
    await expect(run(testModels({}), {}, AbortSignal.abort())).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("tool results", () => {
  const afterResult = async (text: string, isError = false, later: ModelMessage[] = []) => {
    const messages: ModelMessage[] = [
      user("run ls"),
      { role: "assistant", content: [{ type: "tool-call", id: "1", name: "exec", input: { command: "ls" } }] },
      { role: "tool", content: [{ type: "tool-result", id: "1", name: "exec", text, isError }] },
      ...later,
    ];
    return answered((await run(testModels({}), { messages, tools: ALL })).reply);
  };
  const text = (reply: Awaited<ReturnType<typeof afterResult>>) =>
    reply.content.map((p) => (p.type === "text" ? p.text : "")).join("");

  it("are reported with their output", async () => {
    expect(text(await afterResult("a.txt\nb.txt"))).toBe('The tool "exec" is done. It said:\na.txt\nb.txt');
    expect(text(await afterResult("  "))).toContain("printed nothing");
  });

  it("that failed or were refused are said to have", async () => {
    expect(text(await afterResult("boom", true))).toContain("failed:\nboom");
    expect(text(await afterResult("Denied by the person.", true))).toContain("was not allowed");
  });

  it("that waited are told with their outcome, and the interim word is not repeated", async () => {
    const { reply } = await run(testModels({}), {
      messages: [
        user("run ls"),
        { role: "assistant", content: [{ type: "tool-call", id: "c1", name: "exec", input: { command: "ls" } }] },
        {
          role: "tool",
          content: [
            {
              type: "tool-result",
              id: "c1",
              name: "exec",
              text: "Waiting for a person's approval (abc123). It has not run.",
            },
          ],
        },
        happened("approval", "exec", "Allowed by owner.\nnotes.txt\n[exit 0, 0.1 s]"),
      ],
      tools: ALL,
    });
    const said = text(answered(reply));
    expect(said).toContain("notes.txt");
    expect(said).not.toContain("abc123");
    expect(said).not.toContain("no rule");
  });

  it("a tool that is found on demand is called through tool_run", async () => {
    const tools = [
      {
        name: "tool_search",
        description: "Find more tools. There are: wait, schedule_list.",
        input: { type: "object" },
      },
      { name: "tool_run", description: "", input: { type: "object" } },
    ];
    expect((await ask("what is scheduled", tools)).content).toMatchObject([
      { type: "tool-call", name: "tool_run", input: { name: "schedule_list", input: {} } },
    ]);
    expect((await ask("forget about tea", tools)).finish).toBe("stop");
  });

  it("a scheduled message is told as the reminder it is", async () => {
    const messages = [happened("schedule", "water-1a", "drink water")];
    const { reply } = await run(testModels({}), { messages, tools: ALL });
    expect(text(answered(reply))).toBe("It is time: drink water");
    // Typed by a person it is only a text.
    const typed = await run(testModels({}), { messages: [user("[Scheduled: water-1a] drink water")], tools: ALL });
    expect(text(answered(typed.reply))).not.toContain("It is time");
  });

  it("that wait for approval are said to wait", async () => {
    expect(text(await afterResult("This call is waiting for approval apr_1."))).toContain("waiting for your approval");
  });

  it("a message that arrived meanwhile is answered too", async () => {
    const reply = await afterResult("done", false, [user("read notes.txt")]);
    expect(text(reply)).toContain("done");
    expect(reply.content.at(-1)).toMatchObject({ type: "tool-call", name: "read" });
  });
});
