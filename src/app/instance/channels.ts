/** Joins the channels: accounts from the file, the intake to the inbox, the outbox to the accounts. */

import type { Records, Tx } from "../../core/contracts/index.ts";
import { asId, noticeIds, type ReplyRoute, type SessionKey, type TurnId } from "../../core/domain/index.ts";
import { type Bus, type Clock, type Crash, type Guard, type IdMaker, Late, type Log } from "../../core/kit/index.ts";
import { configuredAccounts, Libraries } from "../../edges/channels/index.ts";
import type { AskPlugin } from "../../edges/plugins/index.ts";
import { type Approvals, outcomeText } from "../../flow/approvals/index.ts";
import type { Attachments } from "../../flow/attachments/index.ts";
import { Accounts, Acknowledgements, Intake, Pairings, TRIAL } from "../../flow/channels/index.ts";
import { admittedText, type Inbox, withdraw } from "../../flow/inbox/index.ts";
import { type Outbox, questionAt } from "../../flow/outbox/index.ts";
import { openAmong, tokensSince } from "../../flow/turns/index.ts";
import { makeReader } from "../../ground/config/index.ts";
import type { LaresConfig } from "../config.ts";

export interface ChannelParts {
  home: string;
  records: Records;
  clock: Clock;
  ids: IdMaker;
  crash: Crash;
  guard: Guard;
  bus: Bus;
  log: Log;
  config: Pick<LaresConfig, "channels" | "agents">;
  /** Commands in our own words as they work here. */
  called: (text: string) => string;
  inbox: Inbox;
  outbox: Outbox;
  attachments: Attachments;
  approvals: Approvals;
  askPlugin: AskPlugin;
}

/** What is said without a turn stands under a separate name. */
const NO_SESSION = "channels" as SessionKey;

export function makeChannels(parts: ChannelParts) {
  const { records, clock, crash, bus, log, config } = parts;
  const say = (tx: Tx, m: { id: string; route: ReplyRoute; text: string }) =>
    parts.outbox.intend(tx, {
      answer: m.id,
      turn: asId<TurnId>(m.id),
      session: NO_SESSION,
      route: m.route,
      text: parts.called(m.text),
    });
  const sent = (id: string) => void parts.outbox.wake(asId<TurnId>(id));
  const pairings = new Pairings({ records, clock, bus, say, sent });
  const late = new Late<Accounts>();
  const acknowledgements = new Acknowledgements({
    records,
    clock,
    bus,
    log: log.child("channels"),
    openAmong: (turns) => openAmong(records, turns),
    channel: (at) => late.get().get(at.channel, at.account),
  });
  const intake = new Intake({
    records,
    clock,
    crash,
    guard: parts.guard,
    log: log.child("intake"),
    pairings,
    acknowledgements,
    inbox: parts.inbox,
    outbox: parts.outbox,
    admittedText,
    agents: makeReader(config, "agents"),
    store: (body, about) => parts.attachments.put(body, about),
    answer: async (id, a) => {
      await parts.approvals.resolve(id, a);
      return outcomeText(a);
    },
    isOpen: (code) => parts.approvals.isOpen(code),
    questionAt: (route, message) => questionAt(records, route, message),
    tokensSince: (of, since) => tokensSince(records, of, since),
    withdraw: (id, record) => withdraw(records, id, record),
    say,
    sent,
  });
  const libraries = new Libraries(parts.home);
  const accounts = late.set(
    new Accounts({
      records,
      clock,
      crash,
      guard: parts.guard,
      bus,
      intake,
      log: log.child("channels"),
      undelivered: (at, key, why) => parts.outbox.undelivered(at, key, why),
    }),
  );
  return {
    accounts,
    pairings,
    libraries,
    /** One line to this chat, so that a person sees whether it arrives. */
    async sendTrial(route: ReplyRoute) {
      const id = noticeIds.trial(parts.ids.next("m"));
      await records.write((tx) => say(tx, { id, route, text: TRIAL }));
      await parts.outbox.wake(id);
    },
    async apply() {
      await accounts.apply(configuredAccounts(config.channels, { ...parts, libraries }));
      await acknowledgements.resume();
    },
  };
}

export type Channels = ReturnType<typeof makeChannels>;
