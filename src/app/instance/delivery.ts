/** The way out: the outbox, live answers, questions to people and their reminders. */
import { PULLED } from "../../core/domain/index.ts";
import { Late } from "../../core/kit/index.ts";
import { Approvals, answerShower, Reminders } from "../../flow/approvals/index.ts";
import { makeButtons } from "../../flow/channels/index.ts";
import { Live, makeOwnerNotices, Outbox } from "../../flow/outbox/index.ts";
import { findLivePlace, findQuestionPlace, findTurnRoute, recordWoken } from "../../flow/turns/index.ts";
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
    answered: answerShower({
      findRoute: (turn) => findTurnRoute(records, turn),
      rewrite: (question) => outbox.rewriteQuestion(question),
    }),
    stop: ground.stopTurn,
    resume: (turn, event, record) =>
      engine.resume(turn, event, (tx) => {
        record(tx);
        recordWoken(tx, turn);
      }),
  });
  workshop.mcp.tellOwnerBy(
    makeOwnerNotices({
      records,
      outbox,
      called: ground.called,
      where: (...asked) => findQuestionPlace(records, ...asked),
      unattended: (agent) => config.agents[agent]?.heartbeat?.deliver,
    }),
  );
  return { outbox, live, approvals, reminders };
}
