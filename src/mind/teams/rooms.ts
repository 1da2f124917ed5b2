/**
 * The rooms of teams: posts that everybody in the team can read, and members that answer them, one at a time. A member's answer is a
 * turn like any other; it comes through the inbox and leaves through the outbox.
 *
 * TEAMS-4: a post is durable before anybody is asked about it, and asking is idempotent per post and member, so a crash anywhere
 *     neither loses nor doubles an answer; what is left is taken up at the next start.
 * TEAMS-5: who wrote a post is decided by whose turn or connection it came from, never by what was passed in.
 * TEAMS-6: what a member reads of other members is marked as their words, not as instructions, and acts with the rights of the least
 *     trusted author.
 */
import type { Records, Tx } from "../../core/contracts/index.ts";
import {
  type AgentId,
  AppError,
  type Authority,
  asId,
  type Happening,
  type InboundMessage,
  idempotencyKeys,
  leastTrusted,
  type PersonId,
  postKeys,
  type ReplyRoute,
  readTeamSession,
  type SessionKey,
  sessionKeys,
  sourceKeys,
  type TurnId,
  type TurnResult,
  toChatName,
} from "../../core/domain/index.ts";
import { type Bus, type Clock, type Crash, defined } from "../../core/kit/index.ts";
import { findMember, type Team, type TeamMember } from "./definition.ts";
import { chooseSpeaker, findAddressed, listOwing } from "./speakers.ts";
import {
  addToExchange,
  beginExchange,
  dropDebts,
  findDebt,
  findPost,
  insertDebts,
  insertPost,
  listDebts,
  listOwed,
  listPosts,
  markRead,
  readExchange,
  readUpTo,
  settleDebts,
  startAnswer,
  type TeamPost,
} from "./store.ts";
import { addressedBy, endedAt, LARES, postedIn, STOPPED, signed, unanswered } from "./words.ts";

export interface RoomParts {
  records: Records;
  clock: Clock;
  crash: Crash;
  bus: Bus;
  teams: { list(): Team[]; find(id: string): Team | undefined };
  agentExists: (agent: AgentId) => boolean;
  /** What people call an agent. */
  nameOf: (agent: string) => string;
  /** `record` is written with the admission. */
  admit: (message: InboundMessage, record: (tx: Tx, turn: TurnId) => void) => Promise<{ turn: TurnId }>;
  result: (turn: TurnId) => Promise<TurnResult | undefined>;
  stop: (turn: TurnId, why: string) => Promise<void>;
  authorityIn: (session: SessionKey) => Promise<Authority>;
  hasReadOutside: (session: SessionKey) => Promise<boolean>;
}

export interface NewPost {
  team: string;
  text: string;
  /** The same key again is the same post. */
  key: string;
  by:
    | { kind: "person"; id: string; name: string; authority: Authority }
    | { kind: "member"; session: string; agent: string };
}

/** Posts shown to a member at once; older ones can be read with room_read. */
const MOST_TOLD = 20;
const LONGEST_POST = 16_000;

export class TeamRooms {
  private readonly parts: RoomParts;
  /** Teams whose next speaker is being chosen, so that two ends at once don't start two. */
  private readonly choosing = new Map<string, Promise<void>>();

  constructor(parts: RoomParts) {
    this.parts = parts;
  }

  /** Writes a post. Durable when it resolves; those who owe an answer are asked afterwards. */
  async post(given: NewPost): Promise<TeamPost> {
    const { records, clock, crash } = this.parts;
    const team = this.get(given.team);
    const by = await this.author(team, given.by);
    const post = { team: team.id, ...by, text: given.text.slice(0, LONGEST_POST), at: clock.now() };
    await records.write((tx) => this.write(tx, team, given.key, post, null));
    crash.at("team.posted");
    await this.announce(given.key);
    void this.advance(team.id).catch(() => undefined);
    return (await findPost(records, given.key))!;
  }

  posts(team: string, after: number, limit: number): Promise<TeamPost[]> {
    return listPosts(this.parts.records.committed, this.get(team).id, after, limit);
  }

  /** What a member has not read yet; the rest of the room when it asks for it. */
  async readFor(
    asked: string | undefined,
    agent: string,
    after: number | undefined,
  ): Promise<{ team: Team; posts: TeamPost[] }> {
    const team = this.chooseTeam(asked, agent);
    const from = after ?? (await readUpTo(this.parts.records, team.id, agent));
    const posts = await listPosts(this.parts.records, team.id, from, MOST_TOLD);
    const last = posts.at(-1);
    if (last) await this.parts.records.write((tx) => markRead(tx, team.id, agent, last.seq));
    return { team, posts };
  }

  /** The team a member means: the named one, or the only one it is in. */
  chooseTeam(asked: string | undefined, agent: string): Team {
    const own = this.parts.teams.list().filter(({ members }) => members.some((one) => one.agent === agent));
    const meant = asked === undefined ? own : own.filter(({ id }) => id === asked);
    if (meant.length === 1) return meant[0]!;
    const names = own.map(({ id }) => id).join(", ");
    throw new AppError("TOOL_INPUT", {
      message: own.length === 0 ? "You are in no team, so you have no room." : `Name one of your teams: ${names}.`,
    });
  }

  /** Where a person's message in a chat goes when that chat is a team's room. */
  place(
    message: Pick<InboundMessage, "route" | "text" | "agent" | "origin">,
  ): { agent: AgentId; session: SessionKey } | undefined {
    if (message.agent !== undefined || message.origin === "event") return undefined;
    const team = this.teamAt(message.route);
    if (!team) return undefined;
    const agent = findAddressed(team, message.text)[0] ?? team.lead;
    return { agent: asId(agent), session: sessionKeys.team(agent, team.id) };
  }

  /** A message in such a chat is admitted: it is a post, and its turn the first answer. Written with the admission. */
  noteAdmitted(
    tx: Tx,
    turn: TurnId,
    message: InboundMessage,
    of: { session: SessionKey; person: PersonId; text: string },
  ): void {
    const { team: id } = readTeamSession(of.session) ?? {};
    const team = id === undefined ? undefined : this.parts.teams.find(id);
    if (!team || message.origin === "event" || this.teamAt(message.route)?.id !== team.id) return;
    const { sender, authority = "stranger", outside } = message;
    this.write(
      tx,
      team,
      postKeys.turn(turn),
      {
        team: team.id,
        kind: "person",
        author: of.person,
        name: sender.name ?? sender.id,
        text: of.text,
        authority,
        outside: outside ? 1 : 0,
        at: this.parts.clock.now(),
      },
      turn,
    );
  }

  /** A turn ended: if it answered in a room, its answer is a post, and the next one speaks. */
  async ended(turn: TurnId): Promise<void> {
    const { records, clock, crash } = this.parts;
    const debt = await findDebt(records, turn);
    if (!debt) return;
    const result = await this.parts.result(turn);
    if (!result) return;
    const team = this.parts.teams.find(debt.team);
    const session = sessionKeys.team(debt.member, debt.team);
    const [authority, outside] = [await this.parts.authorityIn(session), await this.parts.hasReadOutside(session)];
    const said = readAnswer(result, this.parts.nameOf(debt.member));
    const key = postKeys.answer(turn);
    crash.at("team.answered");
    await records.write((tx) => {
      settleDebts(tx, turn);
      addToExchange(tx, debt.team, result.usage.cost ?? 0);
      if (!said || !team) return;
      const author = said.by === "member" ? debt.member : LARES;
      const name = said.by === "member" ? this.parts.nameOf(debt.member) : LARES;
      const base = { team: team.id, kind: said.by, author, name, text: said.text, authority, at: clock.now() };
      this.write(tx, team, key, { ...base, outside: outside ? 1 : 0 }, null);
    });
    await this.announce(key);
    await this.advance(debt.team);
  }

  /** At the start: answers that ended while Lares was down become posts, and rooms in which somebody owes something go on. */
  async settle(): Promise<void> {
    const owed = await listOwed(this.parts.records);
    for (const { turn } of owed) if (turn !== null) await this.ended(turn);
    for (const team of new Set(owed.map(({ team }) => team))) await this.advance(team);
  }

  /** Ends the exchange: nobody else speaks until somebody writes. */
  async stop(id: string, by: string): Promise<{ stopped: number }> {
    const { records, clock } = this.parts;
    const team = this.get(id);
    const debts = await listDebts(records, team.id);
    await records.write((tx) => dropDebts(tx, team.id));
    const running = [...new Set(debts.flatMap(({ turn }) => turn ?? []))];
    for (const turn of running) await this.parts.stop(asId(turn), STOPPED);
    if (debts.length > 0) {
      const key = postKeys.stop(team.id, clock.now());
      await records.write((tx) => this.write(tx, team, key, { ...this.own(team), text: `${STOPPED} (${by}).` }, null));
      await this.announce(key);
    }
    return { stopped: debts.length };
  }

  /** The member that answers in a room now. */
  async speaking(team: string): Promise<string | undefined> {
    return (await listDebts(this.parts.records.committed, team)).find(({ turn }) => turn !== null)?.member;
  }

  /** The member's settings in the team whose room this session is. */
  memberIn(session: string): (TeamMember & { team: Team }) | undefined {
    const read = readTeamSession(session);
    const team = read && this.parts.teams.find(read.team);
    const member = team && findMember(team, read.agent);
    return member && { ...member, team };
  }

  /** An answer as it is sent to the room's chat, where all members speak through one account. */
  sign(session: string, text: string): string {
    const member = this.memberIn(session);
    return member?.team.room.chat === undefined ? text : signed(this.parts.nameOf(member.agent), text);
  }

  /** The team of this name. Throws NOT_FOUND. */
  get(id: string): Team {
    const found = this.parts.teams.find(id);
    if (found) return found;
    const known = this.parts.teams.list().map((team) => team.id);
    throw new AppError("NOT_FOUND", {
      message: `There is no team "${id}".`,
      hint: known.length > 0 ? `There is: ${known.join(", ")}.` : "Make one: lares teams new",
    });
  }

  private teamAt(route: ReplyRoute): Team | undefined {
    const at = toChatName(route);
    return this.parts.teams.list().find(({ room }) => room.chat === at);
  }

  private own(team: Team): Omit<TeamPost, "seq" | "text"> {
    const at = this.parts.clock.now();
    return { team: team.id, kind: "lares", author: LARES, name: LARES, authority: "owner", outside: 0, at };
  }

  private async author(
    team: Team,
    by: NewPost["by"],
  ): Promise<Pick<TeamPost, "kind" | "author" | "name" | "authority" | "outside">> {
    if (by.kind === "person")
      return { kind: "person", author: by.id, name: by.name, authority: by.authority, outside: 0 };
    if (!findMember(team, by.agent)) {
      throw new AppError("TOOL_INPUT", { message: `${by.agent} is not a member of ${team.id}.` });
    }
    const session = asId<SessionKey>(by.session);
    const [authority, outside] = [await this.parts.authorityIn(session), await this.parts.hasReadOutside(session)];
    return { kind: "member", author: by.agent, name: this.parts.nameOf(by.agent), authority, outside: outside ? 1 : 0 };
  }

  private write(tx: Tx, team: Team, key: string, post: Omit<TeamPost, "seq">, turn: TurnId | null): void {
    if (post.kind === "person") beginExchange(tx, team.id, key);
    insertPost(tx, key, post);
    insertDebts(tx, key, listOwing(team, post), turn);
  }

  private async announce(key: string): Promise<void> {
    const post = await findPost(this.parts.records, key);
    if (post) this.parts.bus.emit({ event: "team.post", team: post.team, seq: post.seq, author: post.author });
  }

  /** Asks the next speaker, if there is one (TEAMS-2, -3). One choice at a time per team. */
  private advance(team: string): Promise<void> {
    const before = this.choosing.get(team) ?? Promise.resolve();
    const next = before.catch(() => undefined).then(() => this.choose(team));
    const settled = next
      .catch(() => undefined)
      .then(() => {
        if (this.choosing.get(team) === settled) this.choosing.delete(team);
      });
    this.choosing.set(team, settled);
    return next;
  }

  private async choose(id: string): Promise<void> {
    const { records } = this.parts;
    const team = this.parts.teams.find(id);
    if (!team) return;
    const debts = await listDebts(records, id);
    const next = chooseSpeaker(debts, await readExchange(records, id), team.room);
    if (next.do === "wait") return;
    if (next.do === "ask") {
      const { member } = next.debt;
      // One answer to all that it owes: what addressed it last is the message, the rest stands beside it.
      return this.ask(team, member, debts.findLast((debt) => debt.member === member)!.seq);
    }
    const last = (await listPosts(records, id, 0, 1))[0]?.seq ?? 0;
    await records.write((tx) => {
      dropDebts(tx, id);
      const text = endedAt(next.because, next.because === "turns" ? team.room.turns : (team.room.dollars ?? 0));
      this.write(tx, team, postKeys.end(id, last), { ...this.own(team), text }, null);
    });
    await this.announce(postKeys.end(id, last));
  }

  private async ask(team: Team, agent: string, owed: number): Promise<void> {
    const { records, crash } = this.parts;
    const member = findMember(team, agent);
    // What it owes an answer to is shown, even if it has read it with the tool.
    const from = Math.min(await readUpTo(records, team.id, agent), owed - 1);
    const unread = (await listPosts(records, team.id, from, MOST_TOLD)).filter(({ author }) => author !== agent);
    const last = unread.at(-1);
    if (!member || !last || !this.parts.agentExists(asId(agent))) {
      // A member that left the team, or the machine, no longer owes anything, and the room says who is missing.
      const key = postKeys.gone(team.id, agent, last?.seq ?? from);
      await records.write((tx) => {
        dropDebts(tx, team.id, agent);
        this.write(tx, team, key, { ...this.own(team), text: unanswered(this.parts.nameOf(agent), null) }, null);
      });
      await this.announce(key);
      return this.choose(team.id);
    }
    crash.at("team.asking");
    const main = unread.find(({ seq }) => seq === owed) ?? last;
    await this.parts.admit(this.toMessage(team, member, unread, main), (tx, turn) => {
      startAnswer(tx, team.id, agent, last.seq, turn);
      markRead(tx, team.id, agent, last.seq);
    });
  }

  private toMessage(team: Team, member: TeamMember, unread: readonly TeamPost[], main: TeamPost): InboundMessage {
    const isPerson = main.kind === "person";
    const route = readRoute(team);
    return {
      route,
      sender: isPerson ? { id: main.author, name: main.name } : { id: sourceKeys.team(team.id) },
      idempotencyKey: idempotencyKeys.team(team.id, member.agent, unread.at(-1)!.seq),
      text: main.text,
      about: isPerson
        ? { saidAt: main.at, title: team.title }
        : { label: { kind: "team", text: addressedBy(main.name, team.title), of: team.id }, isMaterial: true },
      more: unread.filter((post) => post !== main).map((post) => toHappening(team, post)),
      agent: asId<AgentId>(member.agent),
      session: sessionKeys.team(member.agent, team.id),
      mode: "followup",
      lane: isPerson ? "interactive" : "background",
      origin: isPerson ? "person" : "event",
      isGroup: true,
      outside: unread.some(({ outside }) => outside === 1),
      authority: leastTrusted(...unread.map(({ authority }) => authority)),
      ...defined({ model: member.model }),
    };
  }
}

function toHappening(team: Team, post: TeamPost): Happening {
  return {
    label: { kind: "team", text: postedIn(post.name, team.title), of: team.id },
    at: post.at,
    text: post.text,
    isMaterial: post.kind === "member",
  };
}

/** Where a member's answer goes: to the chat that is the room, or only into the room itself. */
function readRoute(team: Team): ReplyRoute {
  const [channel, account, ...chat] = team.room.chat?.split("/") ?? [];
  if (channel === undefined || account === undefined) return { channel: "none", account: "team", chat: team.id };
  return { channel, account, chat: chat.join("/") };
}

/** What a member's turn leaves in the room: its answer, or why there is none. */
function readAnswer(result: TurnResult, name: string): { by: "member" | "lares"; text: string } | undefined {
  if (result.state === "answered") return result.text.trim() === "" ? undefined : { by: "member", text: result.text };
  // Silence is a decision, and a message that joined another turn is answered by that one.
  if (result.state === "silent" || result.state === "joined") return undefined;
  return { by: "lares", text: unanswered(name, result.reason ?? result.state) };
}
