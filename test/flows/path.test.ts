/**
 * The two paths drawn in docs/ARCHITECTURE.md are those a message takes, file by file: what is measured is drawn, and what is drawn is
 * measured. `LARES_SHOW_PATH=1` prints what was measured as a drawing.
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTelegram } from "../fakes/telegram/index.ts";
import { Lares, modelEnv, startModel, until } from "../support/index.ts";
import { BELOW_EVERY_STEP, entriesIntoApp, type Measured, merge, pathFrom } from "../support/measured-path.ts";
import { type Passed, pathsOfAMessage } from "../support/paths-of-a-message.ts";
import { repositoryText } from "../support/repository.ts";

const program = fileURLToPath(new URL("../support/called-files.mjs", import.meta.url));
const [chat, telegram] = pathsOfAMessage();

/** The first time a message takes a way, its functions are only found; more than this many times means that it never settles. */
const MOST_ROUNDS = 8;

/** Noting every call makes the program many times slower, on a busy machine all the more. */
const PATIENCE_MS = 60_000;

/** `entries`: into app/, with every message. What a timer does beside one of them is no part of its path. */
interface MeasuredMessage extends Measured {
  entries: string[];
}

let lares: Lares;
let model: Awaited<ReturnType<typeof startModel>>;
let fake: Awaited<ReturnType<typeof startTelegram>>;
let calledFile: string;
let said = 0;

beforeAll(async () => {
  model = await startModel();
  fake = await startTelegram();
  // Noting every call makes answers slow, and a slow answer would be shown while it is written: another path.
  const account = { token: fake.token, apiUrl: fake.url, paceMs: 0, dm: "allowlist", owners: ["42"], live: false };
  lares = new Lares({ program, env: modelEnv(model.url), config: { channels: { telegram: { main: account } } } });
  calledFile = join(lares.home, "called-files.json");
  await lares.start({
    LARES_CALLED_FILES: calledFile,
    LARES_CALLED_UNASKED: Object.keys(BELOW_EVERY_STEP).join(),
  });
  await until("a poll", () => fake.polling());
}, 60_000);

afterAll(async () => {
  await lares.dispose();
  await Promise.all([model.close(), fake.close()]);
});

test("a POST /chat passes the files that are drawn, and no others", { timeout: 300_000 }, async () => {
  const measured = await measure(async () => {
    const words = `hello ${++said}`;
    expect(await lares.chat("ann", `say:${words}`)).toMatchObject({ status: 200, response: words });
  });
  compare("POST /chat", chat!, measured, "faces/gateway/server.ts");
  expect(measured.entries).toEqual([
    "faces/gateway/call.ts → app/methods/chat.ts",
    "ground/engine/embedded/engine.ts → app/instance/life.ts",
  ]);
});

test("a message on Telegram passes the files that are drawn, and no others", { timeout: 300_000 }, async () => {
  const measured = await measure(async () => {
    const words = `hello there ${++said}`;
    fake.say(42, 42, `say:${words}`);
    await until("the answer", () => fake.sent.some(({ text }) => text.includes(words)), { withinMs: PATIENCE_MS });
  });
  compare("Telegram", telegram!, measured, "edges/channels/telegram/listen.ts");
  expect(measured.entries).toEqual(["ground/engine/embedded/engine.ts → app/instance/life.ts"]);
});

function compare(name: string, drawn: readonly Passed[], measured: MeasuredMessage, first: string): void {
  const { path, leaves } = pathFrom(first, measured);
  const counted = `${path.length} files pass it on, ${leaves.length} only answer, ${measured.files.length} ran at all`;
  console.log(`${name}: ${counted}, ${measured.entries.length} entries into app/`);
  if (process.env.LARES_SHOW_PATH)
    console.log(draw(first, path, measured), "\n", measured.entries, "\n", leaves.join(" "));
  expect(drawn.map(({ file }) => file).sort()).toEqual(path);
  const row = new RegExp(`^\\| \`?${name}\`? \\| (\\d+) .*?\\| (\\d+) `, "m").exec(
    repositoryText("docs/ARCHITECTURE.md"),
  );
  expect(row?.slice(1, 3).map(Number)).toEqual([path.length, measured.entries.length]);
  const called = new Set(measured.calls.map(({ from, to }) => `${from} → ${to}`));
  const uncalled = drawn.filter(({ file, caller }) => caller && !called.has(`${caller} → ${file}`));
  expect(uncalled, "drawn below a file that did not call it").toEqual([]);
}

/** Repeats the message until no function runs for the first time. What comes after one answer is then seen with the next. */
async function measure(send: () => Promise<void>): Promise<MeasuredMessage> {
  await send();
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const all: Measured[] = [];
    await called();
    for (let i = 0; i < 3; i++) {
      await send();
      all.push(await called());
    }
    if (all.some(({ marked }) => marked !== 0)) continue;
    const [first = [], ...others] = all.map(entriesIntoApp);
    return { ...merge(all), entries: first.filter((one) => others.every((entries) => entries.includes(one))) };
  }
  throw new Error(`After ${MOST_ROUNDS} rounds a message still ran functions that none had run before.`);
}

/** What was called since this was asked last. */
async function called(): Promise<Measured> {
  rmSync(calledFile, { force: true });
  process.kill(lares.pid, "SIGUSR2");
  await until("the names of the files", () => existsSync(calledFile));
  return JSON.parse(readFileSync(calledFile, "utf8")) as Measured;
}

/** Each file below the first one that called it. */
function draw(file: string, path: readonly string[], measured: Measured, indent = "", drawn = new Set([file])): string {
  const next = [...new Set(measured.calls.filter(({ from }) => from === file).map(({ to }) => to))];
  const below = next.filter((one) => path.includes(one) && !drawn.has(one));
  for (const one of below) drawn.add(one);
  return [`${indent}${file}`, ...below.map((one) => draw(one, path, measured, `${indent}  `, drawn))].join("\n");
}
