/** The vault's key in a real OS keyring: gnome-keyring on a session bus of its own, over secret-tool. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  callExec,
  type Lares,
  needs,
  PROGRAM,
  scratch,
  startLares,
  startModel,
  TOKEN,
  until,
} from "../support/index.ts";

const VALUE = "a-value-for-the-keyring-4712";
const PASSWORD = "the keyring's own password";
const canRun = ["gnome-keyring-daemon", "secret-tool", "dbus-run-session"]
  .map((program) => needs(program, "the vault's key in the OS keyring"))
  .every(Boolean);

interface Session {
  /** What a program needs to be part of the session. */
  env: Record<string, string>;
  end(): Promise<void>;
}

/** A session with a keyring. With another password than the one it was made with, it stays locked. */
async function openSession(folder: string, password: string): Promise<Session> {
  const run = join(folder, "run");
  mkdirSync(run, { recursive: true, mode: 0o700 });
  const own = { HOME: folder, XDG_RUNTIME_DIR: run, XDG_DATA_HOME: join(folder, "data") };
  const script = `gnome-keyring-daemon --unlock --components=secrets >/dev/null; echo "bus $DBUS_SESSION_BUS_ADDRESS"; exec sleep 600`;
  const child: ChildProcess = spawn("dbus-run-session", ["--", "bash", "-c", script], {
    env: { PATH: process.env.PATH ?? "", ...own },
    stdio: ["pipe", "pipe", "ignore"],
    detached: true,
  });
  let said = "";
  child.stdout!.on("data", (chunk: Buffer) => (said += chunk.toString()));
  child.stdin!.end(password);
  const bus = await until("the session's bus", () => /^bus (\S+)$/m.exec(said)?.[1], { instead: () => said });
  return {
    env: { ...own, DBUS_SESSION_BUS_ADDRESS: bus! },
    async end() {
      const gone = new Promise((resolve) => child.once("close", resolve));
      process.kill(-child.pid!, "SIGKILL");
      await gone;
    },
  };
}

describe.skipIf(!canRun)("with a keyring that is unlocked", () => {
  const folder = scratch("keyring");
  let session: Session;
  let lares: Lares;
  let model: Awaited<ReturnType<typeof startModel>>;
  beforeAll(async () => {
    model = await startModel();
    session = await openSession(folder, PASSWORD);
    const config = { agents: { main: { policy: { mode: "record" } } } };
    lares = await startLares({ env: { ...model.env, ...session.env }, config });
  });
  afterAll(async () => {
    await lares?.dispose();
    await model?.close();
    await session?.end();
    rmSync(folder, { recursive: true, force: true });
  });

  function run(argv: string[], input = ""): Promise<{ code: number | null; text: string }> {
    const env = { PATH: process.env.PATH ?? "", LARES_TOKEN: TOKEN, ...session.env };
    const child = spawn(process.execPath, [PROGRAM, ...argv, "--home", lares.home], { env, stdio: "pipe" });
    let text = "";
    for (const out of [child.stdout, child.stderr]) out.on("data", (chunk: Buffer) => (text += chunk.toString()));
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    return new Promise((resolve) => child.once("close", (code) => resolve({ code, text })));
  }
  const key = () => join(lares.home, "vault.key");

  test("the key moves there, secrets are set, granted, used, listed and removed, and it survives a restart", async () => {
    expect(await run(["secrets", "set", "FIRST"], VALUE)).toMatchObject({ code: 0 });
    expect(existsSync(key())).toBe(true);
    const moved = await run(["secrets", "keyring", "on"]);
    expect(moved).toMatchObject({ code: 0 });
    expect(existsSync(key()), moved.text).toBe(false);
    expect((await run(["secrets", "keyring"])).text).toContain("OS keyring");

    expect(await run(["secrets", "set", "SECOND"], `${VALUE}-2`)).toMatchObject({ code: 0 });
    expect((await run(["secrets", "grant", "SECOND", "main"])).text).toContain("Commands run by main get SECOND");
    await lares.restart();
    expect((await run(["secrets", "list"])).text).toMatch(/FIRST[\s\S]*SECOND\s+for main/);
    const length = `${callExec('printf %s "$SECOND" | wc -c')} then: say:{results}`;
    expect((await lares.chat("owner", length)).response).toMatch(new RegExp(`\\b${VALUE.length + 2}\\b`));
    expect((await run(["secrets", "remove", "SECOND", "--yes"])).code).toBe(0);
    expect((await run(["secrets", "list"])).text).not.toContain("SECOND");
    for (const file of readdirSync(lares.home).filter((name) => /\.(json|yaml|log|key|db)$/.test(name)))
      expect(readFileSync(join(lares.home, file), "latin1")).not.toContain(VALUE);
  });

  test("without the session, or with the keyring locked, that is said; nothing is lost, and no other key is made", async () => {
    const reason = /its key is in the OS keyring, which cannot be used now/;
    await expect(lares.restart({ DBUS_SESSION_BUS_ADDRESS: "unix:path=/nowhere" })).rejects.toThrow(reason);
    const locked = await openSession(folder, "another password");
    try {
      await expect(lares.start(locked.env)).rejects.toThrow(reason);
    } finally {
      await locked.end();
    }
    expect(existsSync(key())).toBe(false);
    await lares.start(session.env);
    expect((await run(["secrets", "list"])).text).toContain("FIRST");
  });

  test("it moves back into a file", async () => {
    expect(await run(["secrets", "keyring", "off"])).toMatchObject({ code: 0 });
    expect(existsSync(key())).toBe(true);
    await lares.restart({ DBUS_SESSION_BUS_ADDRESS: "unix:path=/nowhere" });
    expect((await run(["secrets", "list"])).text).toContain("FIRST");
  });
});
