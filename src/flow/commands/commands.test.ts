import { describe, expect, test } from "vitest";
import {
  AppError,
  type ApprovalView,
  asId,
  type InboundMessage,
  type SessionKey,
  type TurnId,
} from "../../core/domain/index.ts";
import { COMMANDS, type CommandParts, makeCommands } from "./commands.ts";

const session = asId<SessionKey>("agent:main:http:owner:ana");
const message = {
  route: { channel: "http", account: "owner", chat: "ana" },
  sender: { id: "ana" },
  text: "",
} as InboundMessage;
const waiting = { id: "ap_1234567890abcdef", tool: "exec", state: "pending" } as unknown as ApprovalView;

function setUp(over: Partial<CommandParts> = {}) {
  const did: string[] = [];
  const note =
    (what: string, answer = what) =>
    async (...args: unknown[]) => {
      did.push(`${what} ${JSON.stringify(args)}`);
      return answer;
    };
  const parts = {
    current: async () => asId<TurnId>("t_1"),
    stop: note("stop"),
    stopHelpers: async () => 0,
    reset: note("reset"),
    approvals: {
      find: async () => waiting,
      waiting: async () => [waiting],
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
    mayApprove: () => true,
    ...over,
  } as unknown as CommandParts;
  const run = (text: string) => makeCommands(parts).run(text, { placement: { session, person: "ana" }, message });
  return { run, did };
}

describe("slash commands", () => {
  const wanted =
    "help new reset stop status model think compact usage approve deny agents schedule memory export goal pair timezone".split(
      " ",
    );
  test("are all there, and /help names each", async () => {
    expect(Object.keys(COMMANDS).sort()).toEqual([...wanted].sort());
    const help = await setUp().run("/help");
    for (const word of wanted) expect(help).toContain(`/${word}`);
  });

  test("/stop stops the session's sub-agents too, also when nothing else runs", async () => {
    const helpers = { stopHelpers: async () => 2 };
    expect(await setUp(helpers).run("/stop")).toBe("Stopping, with 2 sub-agents.");
    const idle = { current: async () => undefined };
    expect(await setUp({ ...idle, ...helpers }).run("/stop")).toBe("Stopping, with 2 sub-agents.");
    expect(await setUp(idle).run("/stop")).toBe("Nothing is running.");
  });

  test.each([
    ["/stop", 'stop ["t_1","ana said /stop"]'],
    ["/STOP", 'stop ["t_1","ana said /stop"]'],
    ["/goal the build is green", `goal ["${session}","the build is green",${JSON.stringify(message)}]`],
    ["/new", `reset ["${session}"]`],
    ["/model anthropic/x", `tune ["${session}",{"model":"anthropic/x"}]`],
    ["/model default", `tune ["${session}",{"model":null}]`],
    ["/model", `tune ["${session}",{}]`],
    ["/think high", `tune ["${session}",{"thinking":"high"}]`],
    ["/think off", `tune ["${session}",{"thinking":null}]`],
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

  test.each(["hello", "/", "/research cats", "/constructor", "say /stop"])("%j is no command", async (text) => {
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
    expect(await run("/approve abcdef")).toContain("may not");
    expect(did).toEqual([]);
  });

  test("a failure is told in words, with what to do", async () => {
    const tune = async () => {
      throw new AppError("MODEL_UNKNOWN", { message: "No such model.", hint: "Known: a/b." });
    };
    expect(await setUp({ tune }).run("/model x/y")).toBe("No such model. Known: a/b.");
  });
});
