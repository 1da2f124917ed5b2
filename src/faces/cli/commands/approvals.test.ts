import { afterEach, describe, expect, it } from "vitest";
import { AppError } from "../../../core/domain/index.ts";
import { ManualClock } from "../../../core/kit/index.ts";
import { approval, cli, type FakeGateway, fakeGateway, type Handlers, NOW } from "../testing.ts";

let gateway: FakeGateway;
afterEach(() => gateway.close());

const A = approval({ id: "ap_0000000000000000abc123" });
const B = approval({ id: "ap_1111111111111111xyc123", shown: "curl x | sh" });
const handlers = (all = [A, B]): Handlers => ({
  "approvals.list": (p) => ({ approvals: p.state === "all" ? all : all.filter((a) => a.state === "pending") }),
  "approvals.resolve": (p) => ({
    ...all.find((a) => a.id === p.id)!,
    state: p.decision === "deny" ? "denied" : "allowed",
  }),
});

async function run(argv: string[], given: Handlers = handlers()) {
  gateway = await fakeGateway(given);
  const ran = cli(argv, { home: gateway.home, clock: new ManualClock(NOW + 120_000) });
  return { code: await ran.code, out: ran.out(), err: ran.err() };
}

describe("approvals", () => {
  it("list says how many wait, then each with its short code", async () => {
    const { out, err } = await run(["approvals", "list"]);
    expect(out.split("\n")[0]).toBe("2 approvals are waiting for you.");
    expect(out).toMatch(/◐ {2}abc123 {2}2 min ago {2}main {2}exec {2}rm -rf build/);
    expect(err).toContain("lares approve ID");
  });

  it("says how many wait in all, whatever is shown of them", async () => {
    const some = (p: object) => ({ approvals: [A, B], total: 13, waiting: 13, ...p });
    const first = async (argv: string[], given: object) => {
      const { out } = await run(argv, { "approvals.list": () => some(given) });
      gateway.close();
      return out.split("\n")[0];
    };
    expect(await first(["approvals", "list", "--limit", "2"], {})).toBe(
      "13 approvals are waiting for you; showing the newest 2 of 13.",
    );
    const answered = [approval({ id: A.id, state: "denied" })];
    expect(await first(["approvals", "list", "--all", "--limit", "1"], { approvals: answered, total: 40 })).toBe(
      "13 approvals are waiting for you; showing the newest 1 of 40.",
    );
    expect(await first(["approvals", "list", "--session", "s1"], { approvals: [], total: 0, waiting: 0 })).toBe(
      "Nothing is waiting for you in this conversation.",
    );
    gateway = await fakeGateway({});
  });

  it("a code that was answered or has expired goes to the server, which says what became of it", async () => {
    const { code, err } = await run(["approve", "abc123"], {
      ...handlers([approval({ id: A.id, state: "expired" })]),
      "approvals.resolve": () => {
        throw new AppError("ALREADY_ANSWERED", { message: "This approval expired before it was answered." });
      },
    });
    expect(gateway.callsOf("approvals.resolve")).toMatchObject([{ id: A.id }]);
    expect(err).toContain("This approval expired before it was answered.");
    expect(code).not.toBe(0);
  });

  it("get shows the whole action, safe for the terminal", async () => {
    const { out } = await run(
      ["approvals", "get", "abc123"],
      handlers([approval({ shown: "line 1\nrm \u001b[8mhidden" })]),
    );
    expect(out).toContain("Allow main to do this? (exec)\n    line 1\n    rm \\x1b[8mhidden\n");
    expect(out).toContain("Allow: lares approve abc123");
  });

  it("a question of an MCP server says who asks, and how to answer and decline", async () => {
    const form = { from: "sky", fields: [{ name: "days", kind: "integer" as const, required: true }] };
    const asks = handlers([approval({ id: A.id, shown: "sky asks:\n> How long?\n- days: a whole number", form })]);
    const { out } = await run(["approvals", "get", "abc123"], asks);
    expect(out).toContain("The MCP server sky asks you something.\n  It gets what you answer");
    expect(out).not.toContain("Allow main");
    expect(out).toContain('Answer: lares answer abc123 "NUMBER"   Decline: lares deny abc123');
    gateway.close();
    const { err } = await run(["approvals", "list"], asks);
    expect(err).toContain("lares answer ID TEXT");
  });

  it.each([
    [["approve", "abc123"], { decision: "allow-once" }],
    [["approve", "abc123", "--always"], { decision: "allow-always" }],
    [["deny", "abc123", "--reason", "not today"], { decision: "deny", reason: "not today" }],
    [["approvals", "resolve", A.id, "deny"], { decision: "deny" }],
  ])("%s answers the one it names", async (argv, sent) => {
    const { code, out } = await run(argv);
    expect(gateway.callsOf("approvals.resolve")).toEqual([{ id: A.id, ...sent }]);
    expect(out).toContain("rm -rf build");
    expect(code).toBe(0);
  });

  it.each([
    ["write", "write /w/notes.txt (12 bytes)", "Denied: write /w/notes.txt (12 bytes)"],
    ["exec", "rm -rf build", "Denied: exec rm -rf build"],
    ["write", "writer.txt", "Denied: write writer.txt"],
  ])("says %s once", async (tool, shown, said) => {
    const { out } = await run(["deny", "abc123"], handlers([approval({ tool, shown })]));
    expect(out.split("\n")[0]).toBe(said);
  });

  it("an ending that fits two answers neither", async () => {
    const { code, err } = await run(["approve", "c123"]);
    expect(err).toContain('"c123" matches 2 approvals.');
    expect(code).toBe(2);
    expect(gateway.callsOf("approvals.resolve")).toEqual([]);
  });

  it("who was second is told", async () => {
    const { code, err } = await run(["approve", "abc123"], {
      ...handlers(),
      "approvals.resolve": () => {
        throw new AppError("ALREADY_ANSWERED", { message: "This approval is denied (by ana).", hint: "Ask again." });
      },
    });
    expect(err).toBe("This approval is denied (by ana). Ask again.\n");
    expect(code).toBe(1);
  });
});
