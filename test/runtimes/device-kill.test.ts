/** A Lares that is killed while it makes the key by which OpenClaw's gateway knows it. */
import { fork } from "node:child_process";
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { openDevice } from "../../src/edges/runtimes/openclaw/device.ts";
import { scratch, until } from "../support/index.ts";

const TSX = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
/** Enough of them that one is being made when it is killed. */
const KEYS = 40;

test("CLAW-1: a key that was used is the same after kill -9, and one that was being made is whole or isn't there", async () => {
  const dir = scratch("device");
  const file = fileURLToPath(new URL("./device-child.ts", import.meta.url));
  const lares = fork(file, [dir], { execArgv: ["--import", TSX] });
  onTestFinished(() => void lares.kill("SIGKILL"));
  const used: string[] = [];
  lares.on("message", (message) => used.push(String(message).split(" ")[1]!));
  const gone = new Promise((resolve) => lares.once("exit", resolve));
  await until("some keys", () => used.length >= KEYS);
  lares.kill("SIGKILL");
  await gone;
  const made = readdirSync(dir).length;
  expect(made).toBeGreaterThanOrEqual(used.length);
  const again = await Promise.all(Array.from({ length: made }, (_, i) => openDevice(join(dir, String(i)))));
  expect(again.slice(0, used.length).map(({ id }) => id)).toEqual(used);
  for (const { id, sign } of again) expect([id.length, sign("x").length]).toEqual([64, 86]);
});
