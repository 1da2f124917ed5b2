/** Backups of a working Lares: whole, without a pause that anybody notices, and a restored one does and sends nothing again. */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { callExec, Lares, scratch, startModel, until } from "../support/index.ts";
import { PROGRAM } from "../support/lares.ts";

let model: Awaited<ReturnType<typeof startModel>>;
beforeAll(async () => {
  model = await startModel();
});
afterAll(() => model?.close());

const open: { dispose(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.dispose();
});

async function start(config: object): Promise<Lares> {
  const lares = new Lares({ env: model.env, config });
  open.push(lares);
  return lares.start();
}

/** A command in a process of its own, as a person would call it. */
function command(lares: Lares, args: string[], env: Record<string, string> = {}) {
  const all = { PATH: process.env.PATH ?? "", HOME: lares.home, LARES_COMMAND: "lares", ...env };
  const argv = [PROGRAM, ...args, "--home", lares.home, "--json", "--yes"];
  return new Promise<{ code: number; signal: string | null; out: string; err: string }>((resolve) => {
    execFile(process.execPath, argv, { env: all }, (error, out, err) => {
      const { code = 0, signal = null } = (error ?? {}) as { code?: number; signal?: string | null };
      resolve({ code, signal, out, err });
    });
  });
}
const lines = (text: string) =>
  text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));

describe("lares backup", () => {
  it("restores a home in which nothing that was open is done or sent again, and loses nothing that was there (BACKUP-1, PLACE-2)", async () => {
    const lares = await start({
      policy: { mode: "ask", allow: { exec: ["echo *"] } },
      gateway: { http: { wait: 0.05 } },
    });
    const answered = await lares.chat("ann", "say:answered before");
    expect(answered).toMatchObject({ response: "answered before" });
    const parked = await lares.chat("bob", `${callExec("touch ran-once")} then: say:done`);
    expect(parked.state).toBe("parked");
    await lares.rpc("schedule.add", { name: "often", script: "echo ran", every: "1 hour" });
    await lares.rpc("schedule.add", { name: "once", script: "echo ran", at: Date.now() + 6000 });
    // Stopped, so that the job is due after the backup however slow this machine is: it runs in the life that is lost.
    await lares.stop();
    expect(await command(lares, ["backup", "create"])).toMatchObject({ code: 0 });
    await lares.start();
    const { approvals } = await lares.rpc("approvals.list", {});
    await lares.rpc("approvals.resolve", { id: approvals[0]!.id, decision: "allow-once" });
    await until("the command to run", () => existsSync(join(lares.workspace(), "ran-once")));
    await until("the job to run", async () =>
      (await lares.rpc("schedule.history", { id: "once" })).slots.some(({ state }) => state === "done"),
    );
    await lares.stop();
    rmSync(join(lares.workspace(), "ran-once"));

    const restored = await command(lares, ["backup", "restore", "--replace"]);
    expect(restored).toMatchObject({ code: 0 });
    expect(readdirSync(lines(restored.out)[0].aside)).toContain("lares.db");
    await lares.start();
    const history = await lares.rpc("chat.history", { session: answered.session });
    expect(JSON.stringify(history)).toContain("answered before");
    expect(await lares.rpc("approvals.list", { state: "all" })).toMatchObject({ approvals: [{ state: "withdrawn" }] });
    expect(await lares.rpc("turns.get", { turn: parked.turn })).toMatchObject({ state: "failed" });
    expect((await lares.rpc("schedule.history", { id: "once" })).slots).toMatchObject([
      { state: "missed", reason: expect.stringContaining("restored from a backup") },
    ]);
    const { jobs } = await lares.rpc("schedule.list", {});
    expect(jobs.find(({ name }) => name === "often")?.next).toBeGreaterThan(Date.now());
    // Sessions go on, and the answered question can't be answered again.
    expect(await lares.chat("bob", "say:still here")).toMatchObject({ response: "still here" });
    expect(existsSync(join(lares.workspace(), "ran-once"))).toBe(false);
  });

  it("verifies by starting what it restored, and leaves a running Lares its home", async () => {
    const lares = await start({});
    await lares.chat("ann", "say:hello");
    expect(await command(lares, ["backup", "create"])).toMatchObject({ code: 0 });
    expect(await command(lares, ["backup", "verify"])).toMatchObject({ code: 0 });
    const held = await command(lares, ["backup", "restore", "--replace"]);
    expect(JSON.parse(held.err).error).toMatchObject({ code: "HOME_LOCKED" });
  });

  it("encrypts with the passphrase of a file, and opens with no other", async () => {
    const lares = await start({});
    const [pass, to] = [join(lares.home, "pass"), mkdtempSync(join(scratch("backups"), "b-"))];
    const at = ["--passphrase-file", pass];
    writeFileSync(pass, "correct horse battery\n");
    const made = await command(lares, ["backup", "create", "--to", to, ...at]);
    expect(lines(made.out)).toMatchObject([{ isEncrypted: true, hasKeys: true }]);
    writeFileSync(pass, "incorrect horse battery\n");
    const wrong = await command(lares, ["backup", "list", "--from", to, ...at]);
    expect(JSON.parse(wrong.err).error).toMatchObject({ code: "BACKUP_SEALED" });
  });
});

describe("killed at", () => {
  it.each(["backup.packed", "backup.stored"])(
    "%s: what was there before is whole, and the next backup is, too",
    async (point) => {
      const lares = await start({});
      await lares.chat("ann", "say:hello");
      expect(await command(lares, ["backup", "create"])).toMatchObject({ code: 0 });
      await lares.chat("ann", "say:more");
      expect(await command(lares, ["backup", "create"], { LARES_CRASH_AT: point })).toMatchObject({
        signal: "SIGKILL",
      });
      const ids = async () => lines((await command(lares, ["backup", "list"])).out).map(({ id }) => id as string);
      expect(await ids()).toHaveLength(point === "backup.stored" ? 2 : 1);
      expect(await command(lares, ["backup", "create"])).toMatchObject({ code: 0 });
      expect(await command(lares, ["backup", "verify", "--all"])).toMatchObject({ code: 0 });
      // Nothing of the one that was cut off is left over.
      const files = readdirSync(join(lares.home, "backups"));
      const packs = files.filter((name) => name.endsWith(".pack")).map((name) => name.slice(0, -5));
      expect(packs.every((pack) => files.includes(`${pack}.index`))).toBe(true);
    },
  );

  it.each(["restore.staged", "restore.aside"])("%s: the next start finishes it (PLACE-1)", async (point) => {
    const lares = await start({});
    const { session } = await lares.chat("ann", "say:first");
    expect(await command(lares, ["backup", "create"])).toMatchObject({ code: 0 });
    await lares.chat("ann", "say:second");
    await lares.stop();
    expect(await command(lares, ["backup", "restore", "--replace"], { LARES_CRASH_AT: point })).toMatchObject({
      signal: "SIGKILL",
    });
    await lares.start();
    const said = JSON.stringify(await lares.rpc("chat.history", { session }));
    expect([said.includes("first"), said.includes("second")]).toEqual([true, false]);
    expect(existsSync(join(lares.home, "restore.json"))).toBe(false);
    expect(existsSync(join(lares.home, "restoring"))).toBe(false);
    const aside = readdirSync(lares.home).filter((name) => name.startsWith("before-restore-"));
    expect(aside.map((name) => existsSync(join(lares.home, name, "lares.db")))).toEqual([true]);
  });
});

it("makes one by itself when the newest is too old", async () => {
  const lares = await start({ backup: { everyHours: 24 } });
  const folder = join(lares.home, "backups");
  await until("a backup", () => existsSync(folder) && readdirSync(folder).some((name) => name.endsWith(".backup")));
  expect((await lares.rpc("status", {})).problems).toEqual([]);
});
