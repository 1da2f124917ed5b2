import { afterEach, describe, expect, it } from "vitest";
import { pretend } from "../../../../test/support/pretend.ts";
import { ManualClock } from "../../../core/kit/index.ts";
import { cli, type FakeGateway, fakeGateway, NOW, until } from "../testing.ts";

let gateway: FakeGateway;
afterEach(() => gateway.close());

const file = (path: string, result: string) => ({ path, result });
const plan = (files: object[], undo?: string) => ({ turn: "t_1", files, notes: [], ...(undo ? { undo } : {}) });

async function start(argv: string[], more: FakeGateway["more"], options: object = {}) {
  gateway = await fakeGateway({}, more);
  return cli(argv, { home: gateway.home, clock: new ManualClock(NOW), ...options });
}

describe("undo", () => {
  const answers = {
    "undo.turn": ({ dryRun }: { dryRun?: boolean }) =>
      dryRun ? plan([file("a.txt", "restored")]) : plan([file("a.txt", "restored")], "u_9"),
  };

  it("shows what would go back, asks, puts it back, and says how to take that back", async () => {
    const ran = await start(["undo", "t_1"], pretend(answers), { tty: true });
    await until(() => ran.err().includes("Restore them?"));
    expect(ran.err()).toContain("a.txt");
    expect(gateway.callsOf(pretend("undo.turn"))).toEqual([{ turn: "t_1", dryRun: true }]);
    ran.type("y\n");
    expect(await ran.code).toBe(0);
    expect(ran.out()).toContain("lares undo u_9");
    expect(gateway.callsOf(pretend("undo.turn"))).toHaveLength(2);
  });

  it("changes nothing when the person says no, or only asks what would happen", async () => {
    const ran = await start(["undo", "t_1"], pretend(answers), { tty: true });
    await until(() => ran.err().includes("Restore them?"));
    ran.type("n\n");
    expect(await ran.code).toBe(7);
    expect(gateway.callsOf(pretend("undo.turn"))).toHaveLength(1);
    await gateway.close();
    const dry = await start(["undo", "t_1", "--dry-run"], pretend(answers));
    expect(await dry.code).toBe(0);
    expect(dry.out()).toContain("This would restore 1 file.");
    expect(gateway.callsOf(pretend("undo.turn"))).toHaveLength(1);
  });

  it("ends with 1 when a file changed since and was left", async () => {
    const conflict = { "undo.turn": () => plan([file("a.txt", "restored"), file("b.txt", "conflict")], "u_9") };
    const ran = await start(["undo", "t_1", "--yes"], pretend(conflict));
    expect(await ran.code).toBe(1);
    expect(ran.out()).toContain("Restored all but 1 file.");
  });

  it.each(["conflict", "lost"])(
    "ends with 1 when nothing can be restored: %s; a dry run only looks",
    async (result) => {
      const answer = pretend<FakeGateway["more"]>({ "undo.turn": () => plan([file("a.txt", result)]) });
      const ran = await start(["undo", "t_1", "--yes"], answer);
      expect(await ran.code).toBe(1);
      expect(ran.out()).toContain("Nothing to restore.");
      await gateway.close();
      expect(await (await start(["undo", "t_1", "--dry-run"], answer)).code).toBe(0);
    },
  );

  it("without a turn lists those that changed files", async () => {
    const turn = { turn: "t_1", session: "s", agent: "main", at: NOW - 60_000, notes: [] };
    const files = [{ path: "notes.txt", change: "changed", kept: true }];
    const ran = await start(["undo"], pretend({ "undo.list": () => ({ turns: [{ ...turn, files }] }) }));
    expect(await ran.code).toBe(0);
    expect(ran.out()).toMatch(/t_1 +1 min ago +1 file +notes\.txt/);
  });
});
