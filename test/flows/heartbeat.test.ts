/** The heartbeat on the whole app with a clock moved by hand and the scripted model behind real HTTP. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type RunningApp, startApp } from "../../src/app/index.ts";
import { ManualClock } from "../../src/core/kit/index.ts";
import type { MethodName, Params, Result } from "../../src/core/protocol/index.ts";
import { readEnvironment } from "../../src/ground/config/index.ts";
import { type FarSide, startFarSide, startModel, until } from "../support/index.ts";

const HALF_HOUR = 1_800_000;
const DAY = 86_400_000;
const TOKEN = "heartbeat-test-token-0123456789";

let model: Awaited<ReturnType<typeof startModel>>;
let far: FarSide;
let app: RunningApp;
let clock: ManualClock;
const home = mkdtempSync(join(tmpdir(), "lares-heartbeat-"));
const folder = join(home, "agents", "main");
const list = (...lines: string[]) =>
  writeFileSync(join(folder, "HEARTBEAT.md"), `# Look after\n\n${lines.join("\n")}\n`);

async function rpc<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
  const answer = await fetch(`${app.url}/rpc/${method}`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify(params),
  });
  const json = (await answer.json()) as Result<M> & { error?: { message: string } };
  if (answer.status >= 400) throw new Error(json.error?.message);
  return json;
}

const beat = async () => (await rpc("heartbeat.list", {})).beats.find((one) => one.agent === "main")!;

/** The clock goes on to the next beat, and that beat comes to its end. */
async function next(): Promise<Awaited<ReturnType<typeof beat>>> {
  const before = await beat();
  clock.advance(Math.max(before.next! - clock.now(), 0));
  await until("the beat to be over", async () => {
    const now = await beat();
    const open = (await rpc("status", {})).turns;
    return now.next !== before.next && open.running + open.queued === 0 && (await settled()) ? now : undefined;
  });
  return beat();
}

/** No slot of the heartbeat is open besides the next. */
async function settled(): Promise<boolean> {
  const { slots } = await rpc("schedule.history", { id: "heartbeat:main", limit: 5 });
  return slots.every((slot) => slot.state !== "running" && (slot.state !== "pending" || slot.due > clock.now()));
}

beforeAll(async () => {
  [model, far] = await Promise.all([startModel(), startFarSide()]);
  mkdirSync(folder, { recursive: true });
  list("- Tell me what happens");
  writeFileSync(
    join(home, "lares.yaml"),
    JSON.stringify({
      models: {
        default: "anthropic/scripted",
        providers: { anthropic: { models: { scripted: { price: { input: 1000, output: 1000 } } } } },
      },
      budgets: { perDay: { dollars: 1_000_000 } },
      time: { zone: "UTC" },
      agents: {
        main: {
          heartbeat: {
            deliver: { channel: "webhook", account: "hook", chat: "me" },
            activeHours: "18:00-12:00",
            pauseAfter: 3,
            watch: ["notes.md"],
          },
        },
      },
      channels: { webhook: { hook: { secret: far.secret, url: far.url, dedupes: true } } },
    }),
  );
  clock = new ManualClock(Date.parse("2026-11-15T18:10:00Z"));
  const env = readEnvironment({ ...model.env, LARES_TOKEN: TOKEN, PATH: process.env.PATH ?? "", HOME: home });
  app = await startApp({ env, home, port: 0, version: "test", clock });
});
afterAll(async () => {
  await app.stop();
  await Promise.all([model.close(), far.close()]);
  rmSync(home, { recursive: true, force: true });
});
beforeEach(async () => {
  await rpc("heartbeat.resume", { agent: "main" });
});

describe("a heartbeat", () => {
  it("asks no model on an idle day, and sleeps outside its hours, over midnight too (HEARTBEAT-1)", async () => {
    for (let passed = 0; passed < DAY; passed += HALF_HOUR) await next();
    expect(model.requests).toHaveLength(0);
    const { slots } = await rpc("schedule.history", { id: "heartbeat:main", limit: 60 });
    const why = (text: RegExp) => slots.filter((slot) => text.test(slot.reason ?? "")).length;
    expect(slots.filter((slot) => slot.state === "skipped")).toHaveLength(48);
    expect([why(/First check/), why(/Nothing new/), why(/active hours/)]).toEqual([1, 35, 12]);
    expect(await beat()).toMatchObject({ state: "watching", today: { calls: 0, cost: 0 } });
  });

  it("asks once when something is new, says it where the file says, and the same not again within a day (HEARTBEAT-3)", async () => {
    writeFileSync(join(folder, "workspace", "notes.md"), "new");
    list('- tool:heartbeat_tell {"message":"The notes changed."}');
    await next();
    await until("the message", () => far.shown.length);
    expect(far.shown.map((m) => [m.chat, m.text])).toEqual([["me", "The notes changed."]]);
    const calls = model.requests.length;
    expect(calls).toBe(1);
    expect(JSON.stringify(model.requests[0]!.messages)).toMatch(/HEARTBEAT.md changed.*notes.md changed/s);
    await next();
    expect(model.requests).toHaveLength(calls);
    writeFileSync(join(folder, "workspace", "notes.md"), "newer");
    await next();
    expect(model.requests).toHaveLength(calls + 1);
    const { slots } = await rpc("schedule.history", { id: "heartbeat:main", limit: 3 });
    expect(slots[1]).toMatchObject({ state: "done", reason: expect.stringMatching(/same within the last day/) });
    expect(far.shown).toHaveLength(1);
    const now = await beat();
    expect(now.lastSaid).toBe("The notes changed.");
    expect(now.today.cost).toBeGreaterThan(0);
    expect((await rpc("status", {})).heartbeats?.[0]).toMatchObject({ agent: "main", today: { calls: calls + 1 } });
  });

  it("that has nothing to say decides so with a tool, pauses itself after some of that, and a new checklist wakes it (HEARTBEAT-2, HEARTBEAT-5)", async () => {
    list("- tool:heartbeat_quiet {}");
    for (let i = 0; i < 3; i++) {
      writeFileSync(join(folder, "workspace", "notes.md"), `round ${i}`);
      await next();
    }
    const shown = far.shown.length;
    expect(await beat()).toMatchObject({ state: "paused", useless: 3, because: expect.stringMatching(/3 checks/) });
    const calls = model.requests.length;
    writeFileSync(join(folder, "workspace", "notes.md"), "and again");
    await next();
    expect(model.requests).toHaveLength(calls);
    list("- tool:heartbeat_quiet {} (every 2 hours)");
    await next();
    expect(model.requests).toHaveLength(calls + 1);
    for (let i = 0; i < 3; i++) await next();
    expect(model.requests).toHaveLength(calls + 1);
    await next();
    expect(model.requests).toHaveLength(calls + 2);
    expect(far.shown).toHaveLength(shown);
  });

  it("is off while there is nothing to watch, and can be asked to beat now", async () => {
    list();
    expect(await beat()).toMatchObject({ state: "nothing-to-watch", items: 0 });
    await expect(rpc("heartbeat.run", { agent: "main" })).rejects.toThrow(/lists nothing/);
    list("- tool:heartbeat_quiet {}");
    const calls = model.requests.length;
    await rpc("heartbeat.run", { agent: "main" });
    await until("the beat", () => model.requests.length === calls + 1);
  });

  it("names a hint it does not understand, and keeps the day's figures when it is set to beat otherwise", async () => {
    list(
      "- (every blue moon) look at the sky",
      "- look (every 2 hours), then tell me",
      "- water (every day) (every 9 days)",
    );
    const before = await beat();
    expect(before.problems).toEqual([
      expect.stringMatching(
        /"\(every blue moon\) look at the sky": Lares can't read "blue moon" as how often something happens/,
      ),
      expect.stringMatching(
        /"water \(every day\) \(every 9 days\)": It has more than one \(every …\), and only the first/,
      ),
    ]);
    expect(before.today.looks).toBeGreaterThan(0);
    expect(before.today.calls).toBeGreaterThan(0);
    await rpc("config.set", { path: "agents.main.heartbeat.every", value: "1 hour" });
    const after = await until("the new rhythm", async () => {
      const now = await beat();
      return now.every === 3_600_000 ? now : undefined;
    });
    expect(after.today).toEqual(before.today);
  });
});
