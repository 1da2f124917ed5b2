/**
 * The machine's clock is set while Lares runs. The real program runs on a date of its own, shifted by what a file says; timers go on
 * as they do when a machine's clock is corrected.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  EVERY_WAY,
  type FarSide,
  type Lares,
  PROGRAM,
  scratch,
  sendHook,
  startFarSide,
  startLares,
  startModel,
  until,
} from "../support/index.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The engine looks at the clock at least once a minute, however far away the next thing to do is. */
const A_LOOK = { withinMs: 75_000 };
/** A new time makes it look at once. With every way it is left alone for its minute. */
const look = async () => {
  if (!EVERY_WAY) await lares.rpc("schedule.add", { in: "1 second", prompt: "say:look", name: "look" });
};

let dir: string;
let far: FarSide;
let model: Awaited<ReturnType<typeof startModel>>;
let lares: Lares;
let offset = 0;
let sent = 0;

beforeEach(async () => {
  dir = scratch("clock");
  [offset, sent] = [0, 0];
  writeFileSync(join(dir, "offset"), "0");
  writeFileSync(join(dir, "main.mjs"), shifted(join(dir, "offset")));
  [far, model] = await Promise.all([startFarSide(), startModel()]);
  lares = await startLares({
    program: join(dir, "main.mjs"),
    env: model.env,
    config: {
      policy: { mode: "record" },
      agents: { asker: { policy: { mode: "ask" } } },
      gateway: { http: { wait: 0.05 } },
      approvals: { expireAfterHours: 2, remindAfterHours: 0 },
      outbox: { firstRetryMs: 200, mostRetryMs: 1000 },
      channels: { webhook: { far: { secret: far.secret, url: far.url, dedupes: true } } },
    },
  });
}, 30_000);
afterEach(async () => {
  await lares?.dispose();
  await Promise.all([far?.close(), model?.close()]);
  rmSync(dir, { recursive: true, force: true });
});

function shifted(file: string): string {
  return `
import { readFileSync, renameSync, writeFileSync } from "node:fs";
const RealDate = Date;
let offset = 0;
const look = () => {
  const now = readFileSync(${JSON.stringify(file)}, "utf8");
  if (now === "" || Number(now) === offset) return;
  offset = Number(now);
  writeFileSync(${JSON.stringify(`${file}.seen`)}, now);
};
look();
setInterval(look, 10).unref();
globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length) super(...given);
    else super(RealDate.now() + offset);
  }
  static now() { return RealDate.now() + offset; }
};
await import(${JSON.stringify(pathToFileURL(PROGRAM).href)});
`;
}

/** `start`: with a Lares that was down when the clock was set. */
async function setClock(by: number, start?: () => Promise<unknown>): Promise<void> {
  offset += by;
  const [file, seen] = [join(dir, "offset"), join(dir, "offset.seen")];
  writeFileSync(file, String(offset));
  await start?.();
  await until("Lares to see the new time", () => existsSync(seen) && readFileSync(seen, "utf8") === String(offset));
}

const say = (text: string) =>
  sendHook(lares, "far", far.secret, { id: `h${++sent}`, chat: "c1", text: `say:${text}` }, Date.now() + offset);
const times = (text: string) => far.shown.filter((m) => m.text === text).length;
const shown = (text: string, how = { withinMs: 15_000 }) =>
  until(`"${text}" at the far side`, () => times(text) > 0, { ...how, instead: () => far.shown.map((m) => m.text) });

it("set back a day, answers go out at once, also one whose next try was noted before, over a restart", async () => {
  await say("before");
  await shown("before");
  far.behave({ how: "refuse", status: 503 });
  await say("tried before");
  await until("a failed try", async () => {
    const { turns } = await lares.rpc("turns.list", {});
    const { deliveries } = await lares.rpc("turns.get", { turn: turns[0]!.turn });
    return deliveries.some((d) => d.attempts > 0);
  });
  await lares.kill9();
  await setClock(-DAY_MS, () => lares.start());
  far.behave({ how: "take" });
  await shown("tried before");
  expect((await say("after")).status).toBe(202);
  await shown("after");
  expect(["before", "tried before", "after"].map(times)).toEqual([1, 1, 1]);
}, 60_000);

it("set back a day, a reminder made then comes at its time, and one made before comes once", async () => {
  const deliver = { channel: "webhook", account: "far", chat: "c1" };
  await lares.rpc("schedule.add", { in: "2 hours", prompt: "say:early", deliver, name: "early" });
  await setClock(-DAY_MS);
  await lares.rpc("schedule.add", { in: "1 second", prompt: "say:late", deliver, name: "late" });
  await shown("late");
  expect(times("early")).toBe(0);
  await setClock(DAY_MS + 3 * HOUR_MS);
  await look();
  await shown("early", A_LOOK);
  expect([times("early"), times("late")]).toEqual([1, 1]);
}, 150_000);

it("a question asked before the clock was set back is answered once, and set on it expires to no", async () => {
  const ask = (user: string) =>
    lares.chat(user, `tool:exec ${JSON.stringify({ command: `echo ${user} >> witness` })} then: say:done`, {
      agent: "asker",
    });
  const witness = () => {
    const file = join(lares.workspace("asker"), "witness");
    return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  };
  const [yes, late] = [await ask("yes"), await ask("late")];
  await setClock(-DAY_MS);
  await lares.rpc("approvals.resolve", { id: yes.approval!.id, decision: "allow-once" });
  await lares.rpc("turns.wait", { turn: yes.turn });
  expect(witness()).toEqual(["yes"]);
  expect((await lares.rpc("approvals.get", { id: late.approval!.id })).state).toBe("pending");
  await setClock(DAY_MS + 3 * HOUR_MS);
  await look();
  await until(
    "the other to expire",
    async () => (await lares.rpc("approvals.get", { id: late.approval!.id })).state === "expired",
    A_LOOK,
  );
  await expect(lares.rpc("approvals.resolve", { id: late.approval!.id, decision: "allow-once" })).rejects.toMatchObject(
    { status: 409 },
  );
  expect(witness()).toEqual(["yes"]);
}, 150_000);
