import { describe, expect, test } from "vitest";
import { pretend } from "../../../test/support/pretend.ts";
import {
  AppError,
  type ApprovalView,
  asId,
  type InboundMessage,
  type SessionKey,
  type TurnId,
} from "../../core/domain/index.ts";
import { COMMANDS, type CommandParts, everydayCommands, makeCommands } from "./commands.ts";

const session = asId<SessionKey>("agent:main:http:owner:ana");
const at = JSON.stringify({ session, agent: "main", person: "ana" });
const message = {
  route: { channel: "http", account: "owner", chat: "ana" },
  sender: { id: "ana" },
  text: "",
} as InboundMessage;
const waiting = pretend<ApprovalView>({ id: "ap_1234567890abcdef", tool: "exec", state: "pending" });

function setUp(over: Partial<CommandParts> = {}) {
  const did: string[] = [];
  const note =
    (what: string, answer = what) =>
    async (...args: unknown[]) => {
      did.push(`${what} ${JSON.stringify(args)}`);
      return answer;
    };
  const parts = pretend<CommandParts>({
    current: async () => asId<TurnId>("t_1"),
    helpers: async () => [],
    reset: note("reset"),
    reload: note("reload"),
    approvals: {
      find: async () => waiting,
      waiting: async () => [waiting],
      justAsked: async () => [waiting],
      resolve: async (_id: string, a: { decision: string }) => {
        did.push(`resolve ${a.decision}`);
        return { ...waiting, state: a.decision === "deny" ? "denied" : "allowed" };
      },
    },
    called: (hint: string) => hint,
    status: note("status"),
    tune: note("tune"),
    compact: note("compact"),
    usage: note("usage"),
    agents: note("agents"),
    schedules: note("schedules"),
    timezone: note("timezone"),
    goal: note("goal"),
    memory: note("memory"),
    exported: note("exported"),
    prompts: {
      list: () => [{ typed: "/sky:report city=…", about: "A report" }],
      get: async (_agent: string, { server, prompt, typed }: { server: string; prompt: string; typed: string }) =>
        server === "sky" ? `${prompt} of ${typed}` : undefined,
    },
    mayApprove: () => true,
    ...over,
  });
  const run = (text: string) =>
    makeCommands(parts).run(text, { placement: { session, agent: "main", person: "ana" }, message });
  return { run, did, parts };
}

describe("slash commands", () => {
  const wanted =
    "help new reset stop status model think compact usage approve answer deny agents schedule memory export goal pair reload timezone".split(
      " ",
    );
  test("are all there, and /help names each", async () => {
    expect(Object.keys(COMMANDS).sort()).toEqual([...wanted].sort());
    const help = await setUp().run("/help");
    for (const word of wanted) expect(help).toContain(`/${word}`);
  });

  test("a server's prompt takes the place of the command; without such a server, or for a guest, the text is an ordinary message", async () => {
    const { run } = setUp();
    expect(await run("/sky:report city=Rome")).toEqual({
      says: "Use this prompt (sky:report):\n\nreport of city=Rome",
    });
    expect(await run("/sea:report")).toBeUndefined();
    expect(await setUp({ mayApprove: () => false }).run("/sky:report city=Rome")).toBeUndefined();
    expect(await run("/help")).toContain("/sky:report city=…  A report");
    expect(await setUp({ mayApprove: () => false }).run("/help")).not.toContain("sky");
  });

  describe("/help lists what the person who asks may use", () => {
    const answering = ["answer", "approve", "deny", "pair"];
    const anyone = ["help", "stop", "new", "reset"];
    const cases: [who: string, about: Partial<InboundMessage>, listed: string[]][] = [
      ["the owner in a direct chat", { authority: "owner", mayApprove: true }, wanted],
      ["the owner in a group", { authority: "owner", mayApprove: true, isGroup: true }, wanted],
      ["a known person", { authority: "known" }, wanted.filter((name) => !answering.includes(name))],
      [
        "a known person in a group",
        { authority: "known", isGroup: true },
        wanted.filter((name) => !answering.includes(name)),
      ],
      ["a stranger", { authority: "stranger" }, anyone],
      ["a stranger in a group", { authority: "stranger", isGroup: true }, anyone],
    ];
    test.each(cases)("%s", async (_, about, listed) => {
      const { parts } = setUp({ mayApprove: (message) => message.mayApprove === true });
      const at = { placement: { session, agent: "main", person: "ana" }, message: { ...message, ...about } };
      const help = await makeCommands(parts).run("/help", at);
      const names = String(help)
        .split("\n")
        .flatMap((line) => /^\/([a-z]+)(?![a-z:])/.exec(line)?.[1] ?? []);
      expect(names.sort()).toEqual([...listed].sort());
      // A slip of the pen is not answered with a command that is closed to them.
      const slip = await makeCommands(parts).run("/aprove", at);
      expect(String(slip).includes("/approve")).toBe(listed.includes("approve"));
    });
  });

  test("/stop stops the session's sub-agents too, also when nothing else runs", async () => {
    const helpers = { helpers: async () => ["t_2", "t_3"].map((id) => asId<TurnId>(id)) };
    const why = "ana said /stop";
    const reply = "Stopping, with 2 sub-agents.";
    expect(await setUp(helpers).run("/stop")).toEqual({ reply, stop: { turns: ["t_1", "t_2", "t_3"], why } });
    const idle = { current: async () => undefined };
    expect(await setUp({ ...idle, ...helpers }).run("/stop")).toEqual({ reply, stop: { turns: ["t_2", "t_3"], why } });
    expect(await setUp(idle).run("/stop")).toBe("Nothing is running.");
  });

  test.each(["/stop", "/STOP"])(
    "%s names what is to stop, and leaves it to the admission (COMMANDS-2)",
    async (text) => {
      const { run, did } = setUp();
      const stop = { turns: ["t_1"], why: "ana said /stop" };
      expect(await run(text)).toEqual({ reply: "Stopping.", stop });
      expect(did).toEqual([]);
    },
  );

  test.each([
    ["/goal the build is green", `goal ["${session}","the build is green",${JSON.stringify(message)}]`],
    ["/new", `reset ["${session}"]`],
    ["/reload", `reload ["${session}"]`],
    ["/model anthropic/x", `tune [${at},{"model":"anthropic/x"}]`],
    ["/model default", `tune [${at},{"model":null}]`],
    ["/model", `tune [${at},{}]`],
    ["/think high", `tune [${at},{"thinking":"high"}]`],
    ["/think off", `tune [${at},{"thinking":null}]`],
    ["/compact", `compact ["${session}",""]`],
    ["/compact the trip", `compact ["${session}","the trip"]`],
    ["/approve abcdef", "resolve allow-once"],
    ["/approve abcdef always", "resolve allow-always"],
    ["/deny abcdef too risky", "resolve deny"],
  ])("%s acts at once", async (text, deed) => {
    const { run, did } = setUp();
    expect(await run(text)).toBeTypeOf("string");
    expect(did).toEqual([deed]);
  });

  test.each(["/research cats", "/constructor of the bridge"])("%j does nothing, and says so", async (text) => {
    const { run, did } = setUp();
    expect(await run(text)).toMatch(/^There is no command \/(research|constructor)\./);
    expect(did).toEqual([]);
  });

  test.each(["hello", "/", "/home is full", "say /stop"])("%j is no command", async (text) => {
    const { run, did } = setUp();
    expect(await run(text)).toBeUndefined();
    expect(did).toEqual([]);
  });

  test("a level that is none is answered with those there are", async () => {
    const { run, did } = setUp();
    expect(await run("/think harder")).toContain("off, low, medium, high");
    expect(did).toEqual([]);
  });

  test("somebody without the right cannot answer an approval (AU-07)", async () => {
    const { run, did } = setUp({ mayApprove: () => false });
    expect(await run("/approve abcdef")).toContain("can't answer");
    expect(did).toEqual([]);
  });

  test("a failure is told in words, with what to do", async () => {
    const tune = async () => {
      throw new AppError("MODEL_UNKNOWN", { message: "No such model.", hint: "Known: a/b." });
    };
    expect(await setUp({ tune }).run("/model x/y")).toBe("No such model. Known: a/b.");
  });
});

describe("answers without a slash", () => {
  test.each([
    ["approve abcdef", "allow-once"],
    ["Yes ABCDEF", "allow-once"],
    ["yes abcdef always", "allow-always"],
    ["no abcdef", "deny"],
    ["deny abcdef too risky", "deny"],
    ["yes", "allow-once"],
    ["No.", "deny"],
  ])("%s", async (text, decision) => {
    const { run, did } = setUp();
    expect(await run(text)).toMatch(/Allowed|Denied/);
    expect(did).toEqual([`resolve ${decision}`]);
  });

  const nothing = async () => {
    throw new AppError("NOT_FOUND", { message: "There is no such question." });
  };
  const approvals = (over: object): Partial<CommandParts> => ({ approvals: { ...setUp().parts.approvals, ...over } });

  test.each([
    "yes please",
    "no thanks",
    "yes, do it",
    "no way",
    "approve the plan",
    "yes abcdef but later",
    "yesterday",
  ])("%s is said to the agent", async (text) => {
    const { run, did } = setUp(approvals({ find: nothing, justAsked: async () => [] }));
    expect(await run(text)).toBeUndefined();
    expect(did).toEqual([]);
  });

  test("a code with a slip in it is named, a bare yes where nothing was asked is said to the agent", async () => {
    const { run } = setUp(approvals({ find: nothing, justAsked: async () => [] }));
    expect(await run("yes k7qw2m")).toBe("There is no such question.");
    expect(await run("yes")).toBeUndefined();
  });

  test("with two questions open a bare yes answers neither and names both", async () => {
    const one = { ...waiting, shown: "rm -r build\nin /srv" };
    const other = { ...waiting, id: "ap_1234567890fedcba", tool: "write", shown: "x".repeat(200) };
    const { run, did } = setUp(approvals({ justAsked: async () => [one, other] }));
    expect(String(await run("yes")).split("\n")).toEqual([
      "More than one question is open. Choose one:",
      "yes abcdef – exec: rm -r build",
      `yes fedcba – write: ${"x".repeat(99)}…`,
    ]);
    expect(did).toEqual([]);
  });

  test("nobody answers who may not; in a group, and by an edit, a bare yes is no answer", async () => {
    const { run, did } = setUp({ mayApprove: () => false });
    expect(await run("yes abcdef")).toContain("can't answer");
    expect(await run("yes")).toBeUndefined();
    for (const more of [{ isGroup: true }, { about: { isEdited: true } }]) {
      const at = {
        placement: { session, agent: "main", person: "ana" },
        message: { ...message, ...more } as InboundMessage,
      };
      expect(await makeCommands(setUp().parts).run("yes", at)).toBeUndefined();
    }
    expect(did).toEqual([]);
  });
});

test.each(["known", "stranger"] as const)("no command listed for a %s person is refused to them", async (authority) => {
  const commands = makeCommands(setUp().parts);
  const at = { placement: { session, agent: "main", person: "p" }, message: { ...message, authority } };
  for (const command of everydayCommands(authority)) {
    expect(JSON.stringify(await commands.run(command, at))).not.toMatch(/let in|Only the owner|may not/);
  }
});
