import { expect, test } from "vitest";
import { testRecords } from "../../../test/support/records.ts";
import { comeToRest } from "../../../test/support/rest.ts";
import { noHooks } from "../../core/contracts/index.ts";
import { type ApprovalId, asId, type LiveEvent, type ReplyRoute } from "../../core/domain/index.ts";
import { ManualClock, makeBus, silentLog } from "../../core/kit/index.ts";
import { Approvals, Reminders } from "./index.ts";

const HOUR = 3_600_000;
const CHAT: ReplyRoute = { channel: "webhook", account: "a", chat: "c" };

async function world() {
  const { records } = await testRecords("reminders");
  const clock = new ManualClock();
  const bus = makeBus();
  const events: LiveEvent[] = [];
  bus.on((event) => events.push(event));
  const sent: { answer: string; text: string; route: ReplyRoute }[] = [];
  const open = async () => {
    const reminders = new Reminders({
      records,
      clock,
      bus,
      log: silentLog,
      afterHours: () => 4,
      wake: () => {},
      send: (_tx, { answer, text, route }) => sent.push({ answer, text, route }),
    });
    const approvals = new Approvals({
      records,
      clock,
      bus,
      reminders,
      resume: async (_t, _e, record) => records.write(record).then(() => "taken"),
      stop: async (_t, _why, record) => records.write(record),
      hooks: noHooks,
      isPulled: (route) => route.channel === "http",
    });
    await reminders.start();
    return { reminders, approvals };
  };
  const first = await open();
  const ask = (n: number, route = CHAT, hours = 24) =>
    records.write((tx) => {
      const at = clock.now();
      tx.run(
        `INSERT INTO turn (id, session, agent, accept_id, route, lane, state, accepted_at)
         VALUES (?, 's', 'main', ?, ?, 'interactive', 'parked', ?)`,
        `t${n}`,
        `t${n}`,
        JSON.stringify(route),
        at,
      );
      first.approvals.ask(tx, {
        id: asId<ApprovalId>(`ap_00000${n}`),
        turn: asId(`t${n}`),
        session: asId("s"),
        agent: "main",
        tool: "exec",
        call: "c",
        shown: `echo ${n}`,
        because: "It runs.",
        action: {},
        hash: "h",
        route,
        askedAt: at,
        deadline: at + hours * HOUR,
      });
    });
  /** Moves the clock in steps, as time does. */
  const pass = async (hours: number) => {
    for (let i = 0; i < hours * 60; i++) {
      clock.advance(60_000);
      await comeToRest(records, 1);
    }
  };
  return { ...first, open, ask, pass, sent, events, clock };
}

test("a question is said again after 4, 8 and 16 hours and then no more, each with its event", async () => {
  const { ask, pass, sent, events } = await world();
  await ask(1);
  await pass(3.9);
  expect(sent).toEqual([]);
  await pass(0.2);
  expect(sent.map((one) => one.answer)).toEqual(["t1:remind:ap_000001:1"]);
  expect(sent[0]!.route).toEqual(CHAT);
  expect(sent[0]!.text).toMatch(/still waiting[\s\S]*echo 1[\s\S]*4 hours ago[\s\S]*in 20 hours[\s\S]*approve 000001/);
  await pass(19.5);
  expect(sent).toHaveLength(3);
  expect(events.filter((e) => e.event === "approval.reminded").map((e) => "count" in e && e.count)).toEqual([1, 2, 3]);
});

test("an answered question is not said again", async () => {
  const { ask, pass, sent, approvals } = await world();
  await ask(1);
  await approvals.resolve("ap_000001", { decision: "deny", by: "me" });
  await pass(6);
  expect(sent).toEqual([]);
});

test("where the caller fetches the answer nobody is reminded, nor past the deadline", async () => {
  const { ask, pass, sent } = await world();
  await ask(1, { channel: "http", account: "a", chat: "c" });
  await ask(2, CHAT, 4);
  await pass(10);
  expect(sent).toEqual([]);
});

test("a restart repeats no reminder and forgets none; what was slept through is said once", async () => {
  const { ask, pass, sent, reminders, open, clock } = await world();
  await ask(1);
  await pass(4.5);
  expect(sent).toHaveLength(1);
  reminders.stop();
  const second = await open();
  await pass(1);
  expect(sent).toHaveLength(1);
  second.reminders.stop();
  clock.advance(12 * HOUR);
  await open();
  await pass(1);
  expect(sent.map((one) => one.answer)).toEqual(["t1:remind:ap_000001:1", "t1:remind:ap_000001:2"]);
  await pass(5);
  expect(sent).toHaveLength(2);
});
