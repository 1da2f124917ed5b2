/** Every event that hooks can hear, each raised by the real program: what it carries, that a kill loses none, and that gates hold. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { HOOK_EVENT_NAMES, HOOK_EVENTS, type HookEventName } from "../../src/core/contracts/index.ts";
import {
  type FarSide,
  type HookReceiver,
  type Lares,
  sendHook,
  startFarSide,
  startHookReceiver,
  startLares,
  startModel,
  until,
} from "../support/index.ts";
import { makePlugin } from "../support/plugin.ts";

interface World {
  lares: Lares;
  receiver: HookReceiver;
  far: FarSide;
}

const exec = 'tool:exec {"command":"echo x"} then: say:done';

/** How each event comes about. Nothing proposes skills yet, so nothing raises `skill.proposed`; docs/HOOKS.md says so. */
const RAISED: Readonly<Record<Exclude<HookEventName, "skill.proposed">, (world: World) => Promise<unknown>>> = {
  "message.received": ({ lares }) => lares.chat("ana", "say:hi"),
  "turn.started": ({ lares }) => lares.chat("ana", "say:hi"),
  "context.building": ({ lares }) => lares.chat("ana", "say:hi"),
  "model.called": ({ lares }) => lares.chat("ana", "say:hi"),
  "tool.planned": ({ lares }) => lares.chat("ana", exec),
  "tool.finished": ({ lares }) => lares.chat("ana", exec),
  "answer.ready": ({ lares }) => lares.chat("ana", "say:hi"),
  "turn.ended": ({ lares }) => lares.chat("ana", "say:hi"),
  "message.sent": ({ lares, far }) =>
    sendHook(lares, "main", far.secret, { id: "m1", chat: "kitchen", text: "say:supper" }),
  "session.opened": ({ lares }) => lares.chat("ana", "say:hi"),
  "session.closed": async ({ lares }) => {
    const { session } = await lares.chat("ana", "say:hi");
    await lares.rpc("sessions.reset", { session: session! });
  },
  "compaction.done": async ({ lares }) => {
    for (let i = 0; i < 6; i++) await lares.chat("ana", `say:${"word ".repeat(400)}`);
    await lares.chat("ana", "/compact");
  },
  "approval.changed": async ({ lares }) => {
    lares.chat("ana", exec).catch(() => undefined);
    await until("a question", async () => (await lares.rpc("approvals.list", {})).approvals[0]);
  },
  "schedule.fired": async ({ lares }) => {
    await lares.rpc("schedule.add", { prompt: "say:tick", every: "1 day", name: "tick" });
    await lares.rpc("schedule.run", { id: "tick" });
  },
  "install.staged": ({ lares }) => lares.rpc("plugins.stage", { from: makePlugin("sky") }).catch(() => undefined),
};
const ALL = Object.keys(RAISED) as (keyof typeof RAISED)[];

async function start(event: HookEventName, more: object = {}): Promise<World> {
  const [receiver, far, model] = await Promise.all([startHookReceiver(), startFarSide(), startModel()]);
  const { url, secret } = receiver;
  const lares = await startLares({
    env: model.env,
    config: {
      policy: { mode: event === "approval.changed" ? "ask" : "record" },
      gateway: { http: { wait: 5 } },
      channels: { webhook: { main: { secret: far.secret, url: far.url, senders: ["kitchen"] } } },
      eventHooks: { webhooks: { ear: { url, secret, events: [event], ...more } } },
    },
  });
  onTestFinished(async () => {
    await lares.dispose();
    await Promise.all([receiver.close(), far.close(), model.close()]);
  });
  return { lares, receiver, far };
}

it("every event is tried here, and docs/HOOKS.md names every one", () => {
  expect([...ALL, "skill.proposed"].sort()).toEqual([...HOOK_EVENT_NAMES].sort());
  const page = readFileSync(fileURLToPath(new URL("../../docs/HOOKS.md", import.meta.url)), "utf8");
  for (const event of HOOK_EVENT_NAMES) expect(page).toContain(`\`${event}\``);
  expect(page).toContain("Nothing raises `skill.proposed` yet");
});

it.each(ALL)("%s is raised, and carries what the contract says and nothing else", async (event) => {
  const world = await start(event);
  await RAISED[event](world);
  const heard = await until("it to be heard", () => world.receiver.events(event)[0]);
  const { event: name, id, at, ...facts } = heard.data;
  expect({ name, id, at }).toEqual({ name: event, id: expect.any(String), at: expect.any(Number) });
  const { shape } = HOOK_EVENTS[event].payload;
  expect(z.strictObject(shape).safeParse(facts).error).toBeUndefined();
  // The documented table: an event has at least these fields, and each of them says something.
  const required = Object.entries(shape).filter(([, field]) => !(field as z.ZodType).safeParse(undefined).success);
  for (const [field] of required) expect(facts[field], field).not.toBe("");
});

const OBSERVED = ALL.filter((event) => HOOK_EVENTS[event].modes.some((mode) => mode === "observe"));

it.each(OBSERVED)(
  "an observer of %s that was down hears it after kill -9, under the same id (HOOKED-7)",
  async (event) => {
    const world = await start(event);
    const { lares, receiver } = world;
    receiver.reply = () => ({ status: 503 });
    await RAISED[event](world);
    await until("a failed try", () => receiver.received.length > 0);
    const [first] = receiver.received;
    await lares.kill9();
    receiver.received.length = 0;
    receiver.reply = () => ({});
    await lares.start();
    const again = await until("it to be heard", () => receiver.received.find(({ id }) => id === first!.id));
    expect(again.data).toEqual(first!.data);
    await until("nothing to be left", async () => (await lares.rpc("hooks.list", {})).hooks[0]!.waiting === 0);
  },
);

it.each(["tool.planned", "answer.ready", "install.staged"] as const)(
  "%s fails closed at its deadline (HOOKED-5)",
  async (event) => {
    const world = await start(event, { timeout: 0.3 });
    const { lares, receiver } = world;
    receiver.reply = () => ({ hangs: true });
    const begun = performance.now();
    if (event === "install.staged") {
      await expect(lares.rpc("plugins.stage", { from: makePlugin("sky") })).rejects.toThrow(
        "didn't answer within 0.3 s",
      );
    } else {
      const { turn, response } = await lares.chat("ana", exec);
      const { state, notices } = await lares.rpc("turns.get", { turn: turn! });
      expect(`${notices?.join()} ${response}`).toContain("didn't answer within 0.3 s");
      expect(state).toBe(event === "answer.ready" ? "declined" : "answered");
    }
    expect(performance.now() - begun).toBeLessThan(5000);
  },
);

it("context.building goes on without the notes at its deadline, and declines where the owner chose that", async () => {
  const { lares, receiver } = await start("context.building", { timeout: 0.3 });
  receiver.reply = () => ({ hangs: true });
  expect((await lares.chat("ana", "say:hi")).response).toContain("hi");
  const strict = await start("context.building", { timeout: 0.3, onFail: "deny" });
  strict.receiver.reply = () => ({ hangs: true });
  expect((await strict.lares.chat("ana", "say:hi")).headers.get("x-lares-state")).toBe("declined");
});

it.each(["context.building", "tool.planned"] as const)(
  "%s: the recorded answer is used after kill -9, and the hook isn't asked again (TURNS-14)",
  async (event) => {
    const { lares, receiver } = await start(event);
    await lares.stop();
    await lares.start({ LARES_CRASH_AT: "end.before" });
    const died = lares.gone;
    await lares.chat("ana", exec, { key: "k" }).catch(() => undefined);
    await died;
    const asked = receiver.received.length;
    expect(asked).toBeGreaterThan(0);
    receiver.reply = () => ({ json: { deny: "changed my mind" } });
    await lares.start({ LARES_CRASH_AT: "" });
    expect((await lares.chat("ana", exec, { key: "k" })).response).toBe("done");
    expect(receiver.received).toHaveLength(asked);
  },
);

it("answer.ready: the recorded wish for one more pass is used after kill -9, and isn't asked for again (TURNS-14)", async () => {
  const { lares, receiver } = await start("answer.ready");
  receiver.reply = () => ({ json: { again: "name your source" } });
  await lares.stop();
  await lares.start({ LARES_CRASH_AT: "model.after:2" });
  const died = lares.gone;
  const words = "say:it is so then: say:it is so, says the manual";
  await lares.chat("ana", words, { key: "k" }).catch(() => undefined);
  await died;
  expect(receiver.received).toHaveLength(1);
  receiver.reply = () => ({ json: {} });
  await lares.start({ LARES_CRASH_AT: "" });
  expect((await lares.chat("ana", words, { key: "k" })).response).toContain("says the manual");
  // The first answer was judged once, before the kill; the second one afterwards.
  expect(receiver.received.map(({ data }) => data.pass)).toEqual([1, 2]);
});
