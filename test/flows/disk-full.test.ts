/** A full disk: nothing is acknowledged that is not stored, it is said why, and it goes on by itself when there is room. */
import { spawnSync } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Lares, notRun, startLares, startModel, textsOf, until } from "../support/index.ts";

const place = mkdtempSync(join(tmpdir(), "lares-full-"));
const mounted =
  process.platform === "linux" &&
  spawnSync("mount", ["-t", "tmpfs", "-o", "size=6m,mode=700", "tmpfs", place]).status === 0;
if (!mounted)
  notRun("the disk-full test needs a small tmpfs", "Run it as root on Linux, where `mount -t tmpfs` works.");

let model: Awaited<ReturnType<typeof startModel>>;
let lares: Lares;
beforeAll(async () => {
  if (!mounted) return;
  model = await startModel();
  mkdirSync(join(place, "home"));
  lares = await startLares({ env: model.env, home: join(place, "home") });
});
afterAll(async () => {
  await lares?.dispose();
  await model?.close();
  if (mounted) spawnSync("umount", [place]);
  rmSync(place, { recursive: true, force: true });
});

const ballast = join(place, "ballast");

/** Writes until nothing more fits. */
function fill(): void {
  const fd = openSync(ballast, "a");
  for (const size of [65_536, 4096, 512, 1]) {
    const chunk = Buffer.alloc(size);
    try {
      for (;;) if (writeSync(fd, chunk) < size) break;
    } catch {
      // Full for this size.
    }
  }
  closeSync(fd);
}

it.runIf(mounted)(
  "refuses, says why, and goes on by itself; what was accepted is answered, what was refused is not there",
  async () => {
    expect(await lares.chat("u", "say:before", { key: "before" })).toMatchObject({ status: 200, response: "before" });
    fill();
    // SQLite reuses space it already has, so the first ones may still fit; soon one does not.
    const accepted: string[] = [];
    let refusedText = "";
    const refused = await until("a message to be refused", async () => {
      const text = `say:number ${accepted.length} ${"x".repeat(20_000)}`;
      const answer = await lares.chat("u", text, {
        key: `full-${accepted.length}`,
        signal: AbortSignal.timeout(10_000),
      });
      if (answer.status < 300) {
        accepted.push(text);
        return undefined;
      }
      refusedText = text;
      return answer;
    });
    expect([503, 507]).toContain(refused.status);
    expect(refused.error).toMatchObject({
      code: expect.stringMatching(/STORAGE_FULL|NOT_READY/),
      message: expect.stringMatching(/full/),
    });
    const ready = await fetch(`${lares.url}/readyz`);
    expect(ready.status).toBe(503);
    expect(((await ready.json()) as { why: string }).why).toMatch(/disk is full/);
    expect((await fetch(`${lares.url}/healthz`)).status).toBe(200);
    expect([503, 507]).toContain((await lares.chat("u", "say:still full")).status);

    // Some room, and not enough: it looks several times, stays one, and goes on being full.
    truncateSync(ballast, statSync(ballast).size - 48_000);
    const looks = () => lares.output.split("\n").filter((line) => /disk is full/.test(line)).length;
    const begun = Date.now();
    await until("it to have looked several times", () => Date.now() > begun + 3_500);
    expect(looks()).toBeLessThan(12);

    rmSync(ballast);
    await until("it to serve again by itself", async () => (await fetch(`${lares.url}/readyz`)).status === 200, {
      withinMs: 10_000,
    });
    const after = await lares.chat("u", "say:after", { key: "after" });
    expect(after).toMatchObject({ status: 200, response: "after" });
    const { messages } = await lares.rpc("chat.history", { session: after.session, limit: 1000 });
    const users = textsOf(messages)
      .filter(([role]) => role === "user")
      .map(([, text]) => text);
    // Accepted ones are there once; the refused one is not, unless its turn was stored and only its answer was not.
    expect(users.filter((text) => text !== refusedText)).toEqual(["say:before", ...accepted, "say:after"]);
    expect((await lares.rpc("status", {})).problems).toEqual([]);
    // The refused client tries again with its key: now it is taken, once.
    const again = await lares.chat("u", refusedText, { key: `full-${accepted.length}` });
    expect(again.state).toBe("answered");

    // And it is one house that goes on, for longer than one look.
    const back = Date.now();
    await until("some looks more", () => Date.now() > back + 1_500);
    const pid = lares.pid;
    expect((await lares.rpc("status", {})).pid).toBe(pid);
    await lares.restart();
    expect((await lares.chat("u", "say:after", { key: "after" })).response).toBe("after");
  },
  60_000,
);

const PROGRAM = fileURLToPath(new URL("../../bin/lares.js", import.meta.url));

/** `lares …` as somebody types it. */
function cli(home: string, ...argv: string[]): { code: number | null; said: string } {
  const token = home === lares?.home ? { LARES_TOKEN: lares.token } : {};
  const env = { PATH: process.env.PATH, HOME: home, LARES_HOME: home, LARES_COMMAND: "lares", ...token };
  const ran = spawnSync(process.execPath, [PROGRAM, ...argv], { env, encoding: "utf8", input: "" });
  return { code: ran.status, said: `${ran.stdout}${ran.stderr}`.replace(/\s+/g, " ") };
}

it.runIf(mounted)(
  "every command on a full home ends in a sentence with the file and the way out; with room again nothing is lost",
  async () => {
    const { home } = lares;
    expect(cli(home, "config", "set", "limits.minutes", "25").code).toBe(0);
    const before = await lares.chat("u", "say:before it was full", { key: "before-2" });
    fill();
    await until("a message to be refused", async () => {
      const { status } = await lares.chat("u", `say:${"x".repeat(20_000)}`, { signal: AbortSignal.timeout(10_000) });
      return status >= 500 || undefined;
    });
    const database = `nothing more can be stored in ${join(home, "lares.db")}. Free some space; Lares goes on by itself.`;
    const chat = cli(home, "chat", "-m", "hello");
    expect(chat).toMatchObject({ said: expect.stringContaining(database) });
    expect(chat.code).not.toBe(0);
    const set = cli(home, "config", "set", "limits.minutes", "20");
    expect(set.said).toContain(`${home} can't be written: the disk is full. Free some space (df -h ${home})`);
    expect(set.code).not.toBe(0);
    // What went wrong can be read while nothing else works.
    const logs = cli(home, "logs");
    expect(logs).toMatchObject({ code: 0, said: expect.stringContaining("The disk is full") });
    expect(logs.said).not.toContain("is not running");
    const doctor = cli(home, "doctor");
    expect(doctor.said).toContain(`left on the disk of ${home}. → Free some space there (df -h ${home})`);
    expect(doctor.said).toContain(`Lares is running here (process ${lares.pid})`);
    expect(doctor.said).toContain(database.replace(". Free", ". → Free"));
    expect(doctor.said).not.toContain("doesn't answer");

    await lares.kill9();
    const start = cli(home, "gateway", "run", "--port", "0");
    expect(start.said).toMatch(/the disk is full.* Free some space/);
    expect(start.code).not.toBe(0);

    rmSync(ballast);
    await lares.start();
    const { messages } = await lares.rpc("chat.history", { session: before.session, limit: 1000 });
    expect(textsOf(messages).map(([, text]) => text)).toContain("before it was full");
    expect(cli(home, "config", "get", "limits.minutes").said.trim()).toBe("25");
    expect(cli(home, "config", "set", "limits.minutes", "20").said).toContain("Lares is using it now");
    expect((await lares.chat("u", "say:after it was full")).response).toBe("after it was full");
  },
  120_000,
);

it.each([
  ["chat", "-m", "hello"],
  ["token"],
  ["secrets", "list"],
  ["security", "audit"],
  ["sessions", "list"],
  ["approve", "k7qw2m"],
  ["logs"],
  ["status"],
  ["config", "set", "limits.minutes", "20"],
])("a home that is a file: %s %s says so", (...argv) => {
  const file = join(tmpdir(), `lares-is-a-file-${process.pid}`);
  writeFileSync(file, "");
  try {
    const { code, said } = cli(file, ...argv.filter((word) => word !== undefined));
    expect(said).toContain(`${file} is a file, not a folder. Move it away, or choose another home`);
    expect(said).not.toContain("gateway run");
    expect(code).not.toBe(0);
  } finally {
    rmSync(file);
  }
});
