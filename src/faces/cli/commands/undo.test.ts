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

  it("says what isn't taken back before it asks and after it is done", async () => {
    const note = "A command of the turn: it changed the permissions of a.sh, which undo doesn't restore.";
    const noted = { "undo.turn": () => ({ ...plan([file("a.txt", "restored")], "u_9"), notes: [note] }) };
    const ran = await start(["undo", "t_1"], pretend(noted), { tty: true });
    await until(() => ran.err().includes("Restore them?"));
    expect(ran.err()).toContain(note);
    ran.type("y\n");
    expect(await ran.code).toBe(0);
    expect(ran.out()).toContain(note);
  });

  it("ends with 1 when a file changed since and was left", async () => {
    const conflict = { "undo.turn": () => plan([file("a.txt", "restored"), file("b.txt", "conflict")], "u_9") };
    const ran = await start(["undo", "t_1", "--yes"], pretend(conflict));
    expect(await ran.code).toBe(1);
    expect(ran.out()).toContain("Restored 1 file. Not restored: b.txt.");
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

  it("ticks nothing before it is done, and names what stays lost before and after", async () => {
    const lost = { ...file(".git", "lost"), reason: "no copies" };
    const partly = { "undo.turn": () => plan([file("a.txt", "restored"), lost], "u_9") };
    const ran = await start(["undo", "t_1"], pretend(partly), { tty: true });
    await until(() => ran.err().includes("Restore them?"));
    expect(ran.err()).toContain("This restores 1 file, but not .git:");
    expect(ran.err()).toMatch(/a\.txt +would be restored/);
    expect(ran.err()).not.toContain("✓");
    ran.type("y\n");
    expect(await ran.code).toBe(1);
    expect(ran.out()).toContain("Restored 1 file. Not restored: .git.");
    expect(ran.out()).toMatch(/✓ +a\.txt +restored/);
  });

  it("summarizes many files, with the right figures", async () => {
    const many = Array.from({ length: 2500 }, (_, n) => file(`f${n}`, n < 400 ? "restored" : "lost"));
    const ran = await start(["undo", "t_1", "--yes"], pretend({ "undo.turn": () => plan(many, "u_9") }));
    expect(await ran.code).toBe(1);
    expect(ran.out()).toContain("Restored 400 files. Not restored: 2100 files.");
    expect(ran.out()).toMatch(/… and 395 more +restored/);
    expect(ran.out()).toMatch(/… and 2095 more +lost/);
    expect(ran.out().split("\n").length).toBeLessThan(20);
    expect(ran.err()).toContain("This restores 400 files, but not 2100 files:");
  });

  it("without a turn lists those that changed files", async () => {
    const turn = { turn: "t_1", session: "s", agent: "main", at: NOW - 60_000, notes: [] };
    const files = [{ path: "notes.txt", change: "changed", kept: true }];
    const ran = await start(["undo"], pretend({ "undo.list": () => ({ turns: [{ ...turn, files }] }) }));
    expect(await ran.code).toBe(0);
    expect(ran.out()).toMatch(/t_1 +1 min ago +1 file +notes\.txt/);
  });
});
