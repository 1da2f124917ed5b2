/** The way out: the outbox, live answers, questions to people and their reminders. */
import { type ApprovalView, PULLED } from "../../core/domain/index.ts";
import { Late } from "../../core/kit/index.ts";
import { Approvals, askedOn, outcomeText, Reminders } from "../../flow/approvals/index.ts";
import { makeButtons } from "../../flow/channels/index.ts";
import { Live, Outbox } from "../../flow/outbox/index.ts";
import { findLivePlace, findTurnRoute, recordWoken } from "../../flow/turns/index.ts";
import { makeReader } from "../../ground/config/index.ts";
import type { Ground } from "./ground.ts";
import type { InstanceParts, LateParts } from "./parts.ts";
import type { Workshop } from "./workshop.ts";

export interface BuiltDelivery {
  outbox: Outbox;
  live: Live;
  approvals: Approvals;
  reminders: Reminders;
}

export function buildDelivery(
  parts: InstanceParts,
  ground: Ground,
  workshop: Workshop,
  late: LateParts,
): BuiltDelivery {
  const { config, clock, ids, crash, guard, bus } = parts;
  const { records, engine, clean, eventHooks: hooks } = ground;
  const log = parts.log.child("outbox");
  const accounts = late.accounts.get;
  const lateLive = new Late<Live>();
  const outbox = new Outbox({
    records,
    clock,
    crash,
    guard,
    bus,
    log,
    hooks,
    accounts,
    buttons: (tx, question) => makeButtons(tx, question, { ids, now: clock.now() }),
    file: (id) => workshop.attachments.outgoing(id),
    live: lateLive.get,
    config: makeReader(config, "outbox"),
  });
  const live = lateLive.set(
    new Live({
      records,
      clock,
      bus,
      crash,
      log,
      pace: outbox.pace,
      accounts,
      findPlace: findLivePlace,
      clean: (text) => String(clean(text)),
      progressAfterMs: () => config.outbox.progressAfterSeconds * 1000,
    }),
  );
  const reminders = new Reminders({
    records,
    clock,
    bus,
    log: parts.log.child("approvals"),
    afterHours: () => config.approvals.remindAfterHours,
    send: (tx, message) => outbox.intend(tx, message),
    wake: (turn) => void outbox.wake(turn),
  });
  const approvals = new Approvals({
    records,
    clock,
    bus,
    reminders,
    hooks,
    isPulled: (route) => PULLED.has(route.channel),
    answered: (asked, answer) => showAnswer(records, outbox, asked, answer),
    resume: (turn, event, record) =>
      engine.resume(turn, event, (tx) => {
        record(tx);
        recordWoken(tx, turn);
      }),
  });
  return { outbox, live, approvals, reminders };
}

/** The chat that was asked shows who answered, and how, on whatever surface they did. */
async function showAnswer(
  records: Ground["records"],
  outbox: Outbox,
  asked: ApprovalView,
  answer: { decision: string; by: string },
): ReturnType<Outbox["rewriteQuestion"]> {
  const route = askedOn(asked.action) ?? (await findTurnRoute(records, asked.turn));
  if (!route) return undefined;
  const { turn, session, id } = asked;
  return outbox.rewriteQuestion({ turn, session, route, approval: id, outcome: outcomeText(answer) });
}
