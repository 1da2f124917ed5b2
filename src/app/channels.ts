/** Joins the channels: accounts from the file, the intake to the inbox, the outbox to the accounts. */

import type { Button, Capabilities, Records, Tx } from "../core/contracts/index.ts";
import {
  type ApprovalDecision,
  type ApprovalView,
  answerIds,
  asId,
  type InboundMessage,
  type ReplyRoute,
  type SessionKey,
  scopeKeys,
  type TurnId,
} from "../core/domain/index.ts";
import type { Bus, Clock, Crash, Guard, IdMaker, Log } from "../core/kit/index.ts";
import { boundedChunks } from "../core/render/index.ts";
import { configuredAccounts, Libraries } from "../edges/channels/index.ts";
import type { MessageDesk } from "../edges/tools/index.ts";
import { askedOn } from "../flow/approvals/index.ts";
import type { Attachments } from "../flow/attachments/index.ts";
import { Accounts, Acknowledgements, Intake, insertButton, Pairings } from "../flow/channels/index.ts";
import { admittedText, type Inbox } from "../flow/inbox/index.ts";
import { chunk, type MessagePiece, type Outbox, questionAt } from "../flow/outbox/index.ts";
import { routeOfTurn, tokensSince } from "../flow/turns/index.ts";

export interface ChannelParts {
  home: string;
  records: Records;
  clock: Clock;
  ids: IdMaker;
  crash: Crash;
  guard: Guard;
  bus: Bus;
  log: Log;
  config: () => { channels: unknown; agents: Record<string, { messages?: AgentLimits } | undefined> };
  /** Commands in our own words as they work here. */
  called: (text: string) => string;
  inbox: () => Inbox;
  outbox: () => Outbox;
  attachments: () => Attachments;
  answer: (id: string, a: { decision: ApprovalDecision; by: string }) => Promise<ApprovalView>;
  outcome: (a: { decision: string; by: string }) => string;
  /** Whether a question with this code waits. */
  isOpen: (code: string) => Promise<boolean>;
  /** Takes back what was admitted under this id and still waits. */
  withdraw: (acceptId: string, record: (tx: Tx) => void) => Promise<boolean>;
  /** Who would answer this message. */
  agentOf: (message: InboundMessage) => string;
}

type AgentLimits = { maxMessagesPerHour?: number; maxMessagesPerUser?: number; maxTokensPerDay?: number };

/** What is said without a turn stands under a name of its own. */
const NO_SESSION = "channels" as SessionKey;

export function makeChannels(parts: ChannelParts) {
  const { records, clock, crash, bus, log, config } = parts;
  const say = (tx: Tx, m: { id: string; route: ReplyRoute; text: string }) =>
    parts.outbox().intend(tx, {
      answer: m.id,
      turn: asId<TurnId>(m.id),
      session: NO_SESSION,
      route: m.route,
      text: parts.called(m.text),
    });
  const sent = (id: string) => void parts.outbox().wake(asId<TurnId>(id));
  const pairings = new Pairings({ records, clock, bus, say, sent });
  const acknowledgements = new Acknowledgements({
    ...{ records, clock, bus, log: log.child("channels") },
    channel: (at) => accounts.get(at.channel, at.account),
  });
  const intake = new Intake({
    records,
    clock,
    crash,
    guard: parts.guard,
    log: log.child("intake"),
    pairings,
    acknowledgements,
    admit: (message, record) => parts.inbox().admit(message, record),
    store: (body, about) => parts.attachments().put(body, about),
    answer: async (id, a) => {
      await parts.answer(id, a);
      return parts.outcome(a);
    },
    isOpen: (code) => parts.isOpen(code),
    questionAt: (route, message) => questionAt(records, route, message),
    admittedText: (id) => admittedText(records, id),
    tokensSince: (of, since) => tokensSince(records, of, since),
    withdraw: (id, record) => parts.withdraw(id, record),
    say,
    sent,
    answeredAt: (route) => parts.outbox().sentAt(route),
    agentFor: (message) => {
      const agent = parts.agentOf(message);
      return { agent, limits: config().agents[agent]?.messages ?? {} };
    },
  });
  const libraries = new Libraries(parts.home);
  const accounts = new Accounts({
    ...{ records, clock, crash, guard: parts.guard, bus },
    log: log.child("channels"),
    intake,
    undelivered: (at, key, why) => parts.outbox().undelivered(at, key, why),
  });
  return {
    accounts,
    pairings,
    libraries,
    home: parts.home,
    async apply() {
      await accounts.apply(configuredAccounts(config().channels as never, { home: parts.home, clock, log, libraries }));
      await acknowledgements.resume();
    },

    /** Buttons for a question, their meaning kept. */
    buttons(tx: Tx, { approval, once }: { approval: string; once?: true }): Button[] {
      const choices: [ApprovalDecision, string, Button["kind"]][] = [
        ["allow-once", "Allow once", "yes"],
        ...(once ? [] : [["allow-always", "Always allow", "plain"] as [ApprovalDecision, string, Button["kind"]]]),
        ["deny", "Deny", "no"],
      ];
      return choices.map(([decision, label, kind]) => {
        // The end of an id is its random part: short enough for any platform, too long to guess.
        const id = parts.ids.next("b").slice(-16);
        insertButton(tx, { id, approval, decision }, clock.now());
        return { id, label, kind };
      });
    },

    /** Whatever surface answered: the chat that was asked shows who did, and how. */
    async answered(asked: ApprovalView, a: { decision: string; by: string }) {
      const route = askedOn(asked.action) ?? (await routeOfTurn(records, asked.turn));
      if (!route) return;
      const { turn, session, id } = asked;
      return parts.outbox().rewriteQuestion({ turn, session, route, approval: id, outcome: parts.outcome(a) });
    },
  };
}

/** What a program gets of one answer: at 16,000 characters a message, more than any model writes. */
const MOST_RAW = 250;

/** An answer as messages of a platform. What renders to nothing is sent as it is: silence would be no answer. */
export function pieces(text: string, can: Capabilities): MessagePiece[] {
  const { dialect, limit, unit, most } = can;
  const parts = dialect === "raw" ? [] : boundedChunks(text, dialect, { limit, unit, most });
  if (parts.length) return parts as unknown as MessagePiece[];
  const raw = chunk(text, limit).map((piece): MessagePiece => ({ text: piece }));
  const room = most ?? MOST_RAW;
  if (raw.length <= room) return raw;
  return [...raw.slice(0, room - 1), { text: `[The rest is left out: ${raw.length - room + 1} more messages.]` }];
}

export type Channels = ReturnType<typeof makeChannels>;

/** What the `message` tool sees of the house. */
export function messageDesk(parts: {
  records: Records;
  outbox: Outbox;
  attachments: Attachments;
  exists: (route: ReplyRoute) => "pushed" | "pulled" | undefined;
  startedAt: (turn: TurnId) => Promise<number | undefined>;
}): MessageDesk {
  const { records, outbox, attachments, exists } = parts;
  return {
    startedAt: (turn) => parts.startedAt(asId<TurnId>(turn)),
    refuses: (route) =>
      exists(route) ? undefined : `There is no channel "${route.channel}/${route.account}" to send through.`,
    async send({ key, caller, route, text, files }) {
      const [turn, session] = [asId<TurnId>(caller.turn), asId<SessionKey>(caller.session)];
      const by = scopeKeys.agent(caller.agent);
      const put = async (f: { name: string; content: Uint8Array }) =>
        (await attachments.put(once(f.content), { name: f.name, by, ours: true })).id;
      const ids: string[] = [];
      for (const file of files) ids.push(await put(file));
      await records.write((tx) => {
        attachments.keepFor(tx, ids, session);
        const what = text || files.map((f) => f.name).join(", ");
        outbox.intend(tx, { answer: answerIds.sent(turn, key), turn, session, route, text: what, files: ids });
      });
      await outbox.wake(turn);
      if (exists(route) === "pushed") return "It is on its way.";
      const links = files.map((f, i) => `[${f.name}](/attachments/${ids[i]})`);
      return `This conversation is read where it is written: put it into your answer.${links.length ? ` Link to: ${links.join(" ")}` : ""}`;
    },
  };
}

async function* once(content: Uint8Array): AsyncIterable<Uint8Array> {
  yield content;
}
