/** The two paths drawn in docs/ARCHITECTURE.md are those a message takes: every file on them works while it is answered. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTelegram } from "../fakes/telegram/index.ts";
import { Lares, modelEnv, startModel, until } from "../support/index.ts";
import { pathsOfAMessage } from "../support/paths-of-a-message.ts";

const program = fileURLToPath(new URL("../support/called-files.mjs", import.meta.url));
const [chat, telegram] = pathsOfAMessage();

let lares: Lares;
let model: Awaited<ReturnType<typeof startModel>>;
let fake: Awaited<ReturnType<typeof startTelegram>>;
let calledFile: string;

beforeAll(async () => {
  model = await startModel();
  fake = await startTelegram();
  const account = { token: fake.token, apiUrl: fake.url, paceMs: 0, dm: "allowlist", owners: ["42"] };
  lares = new Lares({ program, env: modelEnv(model.url), config: { channels: { telegram: { main: account } } } });
  calledFile = join(lares.home, "called-files.json");
  await lares.start({ LARES_CALLED_FILES: calledFile });
  await until("a poll", () => fake.polling());
  await called();
}, 60_000);

afterAll(async () => {
  await lares.dispose();
  await Promise.all([model.close(), fake.close()]);
});

test("a POST /chat passes every file that is drawn", async () => {
  expect(await lares.chat("ann", "say:hello")).toMatchObject({ status: 200, response: "hello" });
  const files = await called();
  expect(chat!.map(({ file }) => file).filter((file) => !files.includes(file))).toEqual([]);
});

test("a message on Telegram passes every file that is drawn", async () => {
  fake.say(42, 42, "say:hello there");
  await until("the answer", () => fake.sent.some(({ text }) => text.includes("hello there")));
  const files = await called();
  expect(telegram!.map(({ file }) => file).filter((file) => !files.includes(file))).toEqual([]);
  expect(
    chat!.map(({ file }) => file).filter((file) => file.startsWith("faces/gateway/chat") && files.includes(file)),
  ).toEqual([]);
});

/** The files that worked since this was asked last. */
async function called(): Promise<string[]> {
  rmSync(calledFile, { force: true });
  process.kill(lares.pid, "SIGUSR2");
  await until("the names of the files", () => existsSync(calledFile));
  return JSON.parse(readFileSync(calledFile, "utf8")) as string[];
}
