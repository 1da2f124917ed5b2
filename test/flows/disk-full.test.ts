/** A full disk: nothing is acknowledged that is not stored, it is said why, and it goes on by itself when there is room. */
import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statSync, truncateSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
