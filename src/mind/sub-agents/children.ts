/**
 * Sub-agents. A child is an ordinary turn in a separate session, in the background lane; its end is a system event for the
 * parent's session. Nothing waits in memory for it.
 *
 * SUB-AGENTS-1: spawning under the same key is the same child; its row is written with its admission.
 * SUB-AGENTS-2: a child's result reaches the parent once, across any crash of either: at its end, or at the next start.
 * SUB-AGENTS-3: depth and fan-out are capped; a child that outlives its deadline is stopped, and that is its result. One whose outcome
 * can't be known is reported as unknown.
 * SUB-AGENTS-4: stopping a turn stops the children it asked for, all the way down, also when Lares dies in between, and also the helpers of
 *     a child that has ended. A stopped child is not woken by its helpers' ends; those are reported further up.
 * SUB-AGENTS-5: a child that is quiet for long is reported once, but not stopped.
 * SUB-AGENTS-6: text a parent read from outside stays outside text for its child, and the other way round.
 * SUB-AGENTS-7: a child for which another runtime was chosen stays with it: corrections, further words and reports of its helpers are read
 *     there, too.
 */
import type { Records, Tx } from "../../core/contracts/index.ts";
import {
  type AgentId,
  AppError,
  type Authority,
  asId,
  eventKeys,
  type InboundMessage,
  idempotencyKeys,
  isChildOf,
  isChildSession,
  isSpawnKey,
  type Json,
  leastTrusted,
  noAgent,
  type ReplyRoute,
  type ScheduleId,
  type SessionKey,
  sessionKeys,
  sourceKeys,
  type TurnId,
  type TurnResult,
  timerIds,
} from "../../core/domain/index.ts";
import { type Clock, checkSchema, defined, fitTo, quotedName } from "../../core/kit/index.ts";
import type { TeamsConfig } from "./config.ts";
import { QuietWatch } from "./quiet.ts";
import {
  askedBy,
  type ChildRow,
  childIn,
  findChild,
  insertChild,
  listChildren,
  listOpen,
  markStalled,
  markTold,
  untold,
} from "./store.ts";

export interface ChildrenParts {
  records: Records;
  clock: Clock;
  config: () => TeamsConfig;
  /** `record` is written with the admission. */
  admit: (
    message: InboundMessage,
    record: (tx: Tx, turn: TurnId) => void,
  ) => Promise<{ turn: TurnId; duplicate: boolean }>;
  /** Reports to the parent's session. Durable when it resolves; idempotent per key. `record` is written with it. */
  tell: (told: ChildReport, record: (tx: Tx) => void) => Promise<unknown>;
  /** Whose rights something that happens in this session has: a known person's, or a stranger's. */
  authorityIn: (session: SessionKey) => Promise<Authority>;
  /** Who asked for what this turn does; nobody where it woke by itself. */
  personBehind: (turn: string) => Promise<{ standing: "owner" | "known" | "guest"; name?: string } | undefined>;
  /** Whether text from outside was read in this session. */
  hasReadOutside: (session: SessionKey) => Promise<boolean>;
  stop: (turn: TurnId, why: string) => Promise<void>;
  timer: (id: ScheduleId, slot: { due: number; session: SessionKey; body: Json } | null) => Promise<void>;
  /** Turns of a session that have not ended. */
  open: (session: SessionKey) => Promise<TurnId[]>;
  agentExists: (agent: AgentId) => boolean;
  /** The agent a session belongs to. */
  findAgent: (session: string) => Promise<string | undefined>;
  turns: { read(turn: TurnId): Promise<{ result?: TurnResult } | undefined> };
  /** How a turn stands: whether it is still to end, waits for something, and when it last did something. */
  standing: (turn: TurnId) => Promise<{ open: boolean; parked: boolean; lastAt: number } | undefined>;
}

export interface Spawn {
  key: string;
  task: string;
  agent?: string;
  minutes?: number;
  /** JSON Schema the answer must fit. */
  result?: Json;
  /** What carries it out instead of the agent's own body. */
  runtime?: string;
  /** The git repository that it is about. */
  repository?: string;
  caller: ChildAsker;
}

interface ChildAsker {
  agent: string;
  session: string;
  turn: string;
  route: ReplyRoute;
  authority?: Authority;
}

/** A report about a child to its parent's session. */
export interface ChildReport {
  key: string;
  child: SessionKey;
  session: SessionKey;
  agent: AgentId;
  route: ReplyRoute;
  label: string;
  body: string;
  outside: boolean;
  /** Whose rights a turn about it has. */
  authority: Authority;
}

/** What a deadline's turn is started with. */
export type DeadlineBody = { kind: "child-deadline"; turn: string };

export class Children {
  private readonly parts: ChildrenParts;
  private readonly quiet: QuietWatch;

  constructor(parts: ChildrenParts) {
    this.parts = parts;
    this.quiet = new QuietWatch({ ...parts, report: (child, label, body) => this.report(child, label, body) });
  }

  async spawn(given: Spawn): Promise<{ session: SessionKey; turn: TurnId }> {
    const { records } = this.parts;
    const { caller } = given;
    const config = this.parts.config();
    const agent = asId<AgentId>(given.agent ?? caller.agent);
    if (!this.parts.agentExists(agent)) throw input(noAgent(agent));
    if (given.result !== undefined) checkSchema(given.result);
    const session = sessionKeys.child(caller.session, given.key.replace(/[^a-z0-9.]/gi, "").slice(-16));
    const depth = ((await childIn(records, caller.session))?.depth ?? 0) + 1;
    if (!(await childIn(records, session))) {
      if (depth > config.depth)
        throw input(`Sub-agents can be nested at most ${config.depth} deep. Do this part yourself.`);
      await this.mustHaveRoom(caller.session);
    }
    const turn = await this.ask({
      caller,
      session,
      agent,
      depth,
      key: idempotencyKeys.spawn(given.key),
      label: `Task from ${await this.whoAsks(caller)}`,
      text: given.task,
      minutes: given.minutes,
      result: given.result,
      runtime: given.runtime ?? null,
      repository: given.repository ?? null,
    });
    return { session, turn };
  }

  /** Sends more text to a child, or to another session the caller may see. It joins what is running, or starts a new run. */
  async send(given: { key: string; session: string; text: string; caller: ChildAsker }): Promise<{ turn: TurnId }> {
    const { records } = this.parts;
    const { caller } = given;
    if (given.session === caller.session) throw input("That is this session. Just answer instead.");
    await this.mustSee(caller, given.session);
    const known = await childIn(records, given.session);
    const agent = known?.agent ?? (await this.parts.findAgent(given.session));
    if (agent === undefined) throw unseen(given.session);
    // A running child takes it in; an ended one starts a new run.
    const joins = known && !known.told ? known : undefined;
    if (!joins) await this.mustHaveRoom(caller.session);
    const turn = await this.ask({
      caller,
      session: asId<SessionKey>(given.session),
      agent: asId<AgentId>(agent),
      depth: known?.depth ?? 1,
      key: idempotencyKeys.send(given.key),
      label: `Message from ${await this.whoAsks(caller)}`,
      text: given.text,
      minutes: undefined,
      result: undefined,
      runtime: known?.runtime ?? null,
      repository: known?.repository ?? null,
      ...defined({ joins }),
    });
    return { turn };
  }

  private async findResult(turn: TurnId): Promise<TurnResult | undefined> {
    return (await this.parts.turns.read(turn))?.result;
  }

  /** A turn ended: if it was a child's, the parent gets a report; if it was stopped, its own children stop. */
  async ended(turn: TurnId): Promise<void> {
    const { records } = this.parts;
    const result = await this.findResult(turn);
    if (!result) return;
    if (result.state === "stopped") await this.stopTree(await askedBy(records, turn), "its parent was stopped");
    const child = await findChild(records, turn);
    if (!child || child.told) return;
    // Another run of the same session carried it, and that one's result is reported.
    if (result.state === "joined") await records.write((tx) => markTold(tx, turn));
    else {
      const answer = toAnswer(child, result);
      if (answer.why && !child.corrected) return this.correct(child, answer.why);
      await this.tell(child, result.state, answer.text + notices(result));
    }
    await this.parts.timer(timerIds.child(turn), null);
  }

  /** After a start: reports ends that nothing was running to report, and completes stops that didn't reach everyone. */
  async settle(): Promise<void> {
    for (const child of await untold(this.parts.records)) {
      if (await this.isStoppedAbove(child)) await this.parts.stop(child.turn, "its parent was stopped");
      await this.ended(child.turn);
    }
    this.quiet.begin();
  }

  stop(): void {
    this.quiet.stop();
  }

  /** The deadline came: the child is stopped at its next safe point, and that is its result. */
  async overdue(body: DeadlineBody): Promise<void> {
    const child = await findChild(this.parts.records, asId<TurnId>(body.turn));
    if (!child || child.told) return;
    await this.parts.stop(child.turn, "its time ran out");
    const standing = await this.parts.standing(child.turn);
    if (standing?.open || (await this.findResult(child.turn))) return;
    await this.tell(
      child,
      "unknown",
      "It ended without a result, so its outcome is unknown. Check before you repeat it.",
    );
  }

  /** Stops a child the caller may see, and what it asked for. */
  async end(session: string, caller: ChildAsker): Promise<boolean> {
    await this.mustSee(caller, session);
    const child = await childIn(this.parts.records, session);
    return child !== undefined && (await this.stopTree([child], "the session that asked for it stopped it")) > 0;
  }

  /** The turns whose stop ends everything this session asked for. */
  async working(session: string): Promise<TurnId[]> {
    const { records } = this.parts;
    const rows = [...(await listOpen(records, session)), ...(await listChildren(records, session, MOST_LISTED))];
    return this.listTree([...new Map(rows.map((row) => [row.turn, row])).values()]);
  }

  /** Stops these and everything running below them. Returns how many were stopped. */
  private async stopTree(rows: readonly ChildRow[], why: string): Promise<number> {
    const turns = await this.listTree(rows);
    for (const turn of turns) await this.parts.stop(turn, why);
    return turns.length;
  }

  /** Turns of these and everything running below them. One that has ended may have left helpers running. */
  private async listTree(rows: readonly ChildRow[]): Promise<TurnId[]> {
    const { records } = this.parts;
    const turns: TurnId[] = [];
    for (const row of rows) {
      // The end of one that works stops its own.
      if (!row.told && !(await this.findResult(row.turn))) turns.push(row.turn);
      else if (isChildOf(row.session, row.parent_session)) {
        // Woken by its own helper's end, it works again, and nobody but this asked for the session.
        turns.push(...(await this.parts.open(row.session)));
        turns.push(...(await this.listTree(await listChildren(records, row.session, MOST_LISTED))));
      }
    }
    return turns;
  }

  /** Whether the run that asked for it, or one further up, was stopped. */
  private async isStoppedAbove(child: ChildRow): Promise<boolean> {
    for await (const run of this.upFrom(child)) {
      if ((await this.findResult(run.parent_turn))?.state === "stopped") return true;
    }
    return false;
  }

  /** The run whose parent gets the report: the child's own, unless its parent was stopped too and has a parent itself. */
  private async toldTo(child: ChildRow): Promise<ChildRow> {
    let to = child;
    for await (const run of this.upFrom(child)) {
      to = run;
      if ((await this.findResult(run.parent_turn))?.state !== "stopped") break;
    }
    return to;
  }

  /** A run, the run that asked for it, and so on up to the first. */
  private async *upFrom(child: ChildRow): AsyncGenerator<ChildRow> {
    const { records } = this.parts;
    const seen = new Set<TurnId>();
    for (let at: ChildRow | undefined = child; at && !seen.has(at.turn); ) {
      yield at;
      seen.add(at.turn);
      if (!isChildSession(at.parent_session)) return;
      at = (await findChild(records, at.parent_turn)) ?? (await childIn(records, at.parent_session));
    }
  }

  /** A session, who asked for it, and so on. Two that wrote to each other are each other's askers: each comes once. */
  private async *upFromSession(session: string): AsyncGenerator<{ session: string; asker?: ChildRow | undefined }> {
    const seen = new Set<string>();
    for (let at: string | undefined = session; at !== undefined && !seen.has(at); ) {
      seen.add(at);
      const asker: ChildRow | undefined = await childIn(this.parts.records, at);
      yield { session: at, asker };
      at = asker?.parent_session;
    }
  }

  /** The session's children and theirs, newest first. */
  async list(session: string): Promise<ChildRow[]> {
    const found: ChildRow[] = [];
    const seen = new Set<string>([session]);
    for (let level = [session]; level.length && found.length < MOST_LISTED; ) {
      const rows = (await Promise.all(level.map((one) => listChildren(this.parts.records, one, MOST_LISTED)))).flat();
      const fresh = rows.filter((row) => !seen.has(row.session));
      level = [];
      for (const row of fresh) {
        if (seen.has(row.session)) continue;
        seen.add(row.session);
        level.push(row.session);
        found.push(row);
      }
    }
    return found.slice(0, MOST_LISTED);
  }

  /** What a turn can wait for: the children of its session whose results are still to come, by their events' keys. */
  async awaited(session: string, only?: readonly string[]): Promise<string[]> {
    const open = await listOpen(this.parts.records, session);
    // Words that were sent to a running child end with it.
    const own = open.filter((row) => row.root === row.turn || row.corrected);
    return own.filter((row) => !only || only.includes(row.session)).map(makeKey);
  }

  /** Who asked for a session, and for that one, up to the first: their agents. */
  async ancestors(session: string): Promise<string[]> {
    const agents: string[] = [];
    for await (const { asker } of this.upFromSession(session)) if (asker) agents.push(asker.parent_agent);
    return agents;
  }

  /** Whether this session asked for that one, or asked for one that did. */
  async isBelow(above: string, target: string): Promise<boolean> {
    for await (const { session } of this.upFromSession(target)) if (session === above) return true;
    return false;
  }

  /** A session sees itself and what it asked for, all the way down; more where the settings allow it (SB-03). */
  async mayRead(viewer: { session: string; agent: string }, target: string): Promise<boolean> {
    if (await this.isBelow(viewer.session, target)) return true;
    const { visibility } = this.parts.config();
    if (visibility === "tree") return false;
    const agent = await this.parts.findAgent(target);
    return agent !== undefined && (visibility === "all" || agent === viewer.agent);
  }

  private async ask(given: {
    caller: ChildAsker;
    session: SessionKey;
    agent: AgentId;
    depth: number;
    key: string;
    label: string;
    text: string;
    minutes: number | undefined;
    result: Json | undefined;
    runtime: string | null;
    repository: string | null;
    /** The run this one corrects, or will be part of. */
    corrects?: ChildRow;
    joins?: ChildRow;
  }): Promise<TurnId> {
    const { clock } = this.parts;
    const { caller, session, agent, corrects, joins } = given;
    const most = this.parts.config().minutes;
    const deadline = corrects?.deadline ?? clock.now() + Math.min(given.minutes ?? most, most) * 60_000;
    const minutesLeft = Math.max(1, Math.round((deadline - clock.now()) / 60_000));
    const shape = given.result === undefined ? "" : `\n\nAnswer with JSON of this schema and nothing else:\n`;
    const schema = given.result === undefined ? null : JSON.stringify(given.result);
    const { turn } = await this.parts.admit(
      {
        route: { channel: "none", account: "child", chat: session },
        sender: { id: sourceKeys.session(caller.session) },
        idempotencyKey: given.key,
        text: `${given.text}${shape}${schema ?? ""}`,
        about: { label: { kind: "task", text: `${given.label}, ${minutesLeft} min left` } },
        agent,
        session,
        lane: "background",
        mode: corrects || isSpawnKey(given.key) ? "followup" : "steer",
        origin: "event",
        authority: leastTrusted(caller.authority ?? "known", await this.parts.authorityIn(asId(caller.session))),
        outside: await this.parts.hasReadOutside(asId<SessionKey>(caller.session)),
      },
      (tx, made) => {
        insertChild(tx, {
          turn: made,
          root: (corrects ?? joins)?.root ?? made,
          session,
          parent_turn: asId<TurnId>(caller.turn),
          parent_session: asId<SessionKey>(caller.session),
          parent_route: JSON.stringify(caller.route),
          parent_agent: caller.agent,
          agent,
          task: corrects?.task ?? given.text,
          depth: given.depth,
          deadline,
          told: 0,
          made_at: clock.now(),
          result: schema,
          corrected: corrects ? 1 : 0,
          stalled: 0,
          runtime: given.runtime,
          repository: given.repository,
        });
        if (corrects) markTold(tx, corrects.turn);
      },
    );
    const body: DeadlineBody = { kind: "child-deadline", turn };
    await this.parts.timer(timerIds.child(turn), { due: deadline, session: sessionKeys.childTimer(turn), body });
    // It may have ended before its timer was there.
    await this.ended(turn);
    this.quiet.begin();
    return turn;
  }

  /** The agent that asks, and the person it works for. */
  private async whoAsks({ agent, turn }: ChildAsker): Promise<string> {
    const person = await this.parts.personBehind(turn);
    if (!person) return `the agent ${agent}`;
    const { name, standing } = person;
    return `the agent ${agent}, asked by ${name ? `${quotedName(name)} (${standing})` : `the ${standing}`}`;
  }

  /** One more try for an answer that does not fit. */
  private async correct(child: ChildRow, why: string): Promise<void> {
    const { parent_agent, parent_session, parent_turn, parent_route } = child;
    await this.ask({
      caller: {
        agent: parent_agent,
        session: parent_session,
        turn: parent_turn,
        route: JSON.parse(parent_route) as ReplyRoute,
      },
      session: child.session,
      agent: asId<AgentId>(child.agent),
      depth: child.depth,
      key: idempotencyKeys.correct(child.turn),
      label: "Your answer doesn't fit",
      text: why,
      minutes: undefined,
      result: JSON.parse(child.result!) as Json,
      runtime: child.runtime,
      repository: child.repository,
      corrects: child,
    });
    await this.parts.timer(timerIds.child(child.turn), null);
  }

  private async tell(child: ChildRow, state: string, said: string): Promise<void> {
    const to = await this.toldTo(child);
    const whose = to === child ? "the sub-agent you asked for" : "a sub-agent below one you asked for";
    await this.parts.tell(
      {
        // A child is reported once, no matter which path notices its end (SUB-AGENTS-2).
        key: makeKey(child),
        label: `Result of ${whose}: ${state}`,
        body: `Task: ${child.task}\n\n${said}`,
        ...(await this.about(child, to)),
      },
      (tx) => markTold(tx, child.turn),
    );
  }

  private async report(child: ChildRow, label: string, body: string): Promise<void> {
    const told = { key: eventKeys.stalled(child.turn), label, body, ...(await this.about(child)) };
    await this.parts.tell(told, (tx) => markStalled(tx, child.turn));
  }

  private async about(
    child: ChildRow,
    to = child,
  ): Promise<Pick<ChildReport, "child" | "session" | "agent" | "route" | "outside" | "authority">> {
    return {
      child: child.session,
      session: to.parent_session,
      agent: asId<AgentId>(to.parent_agent),
      route: JSON.parse(to.parent_route) as ReplyRoute,
      outside: await this.parts.hasReadOutside(child.session),
      authority: await this.parts.authorityIn(to.parent_session),
    };
  }

  private async mustHaveRoom(session: string): Promise<void> {
    const open = await listOpen(this.parts.records, session);
    if (open.length < this.parts.config().atOnce) return;
    throw input(`${open.length} sub-agents are already running; wait for one to end.`);
  }

  private async mustSee(caller: ChildAsker, session: string): Promise<void> {
    if (!(await this.mayRead(caller, session))) throw unseen(session);
  }
}

/** As many as anybody reads. */
const MOST_LISTED = 50;

/** What a child says. `why`: it should have been JSON that fits, and is not. */
function toAnswer(child: ChildRow, result: TurnResult): { text: string; why?: string } {
  const said = result.text || result.reason || "(nothing)";
  if (child.result === null || result.state !== "answered") return { text: said };
  const fits = fitTo(JSON.parse(child.result) as Json, said);
  if (fits.ok) return { text: JSON.stringify(fits.value) };
  return { text: `(It doesn't fit the schema: ${fits.why})\n${said}`, why: fits.why };
}

function notices(result: TurnResult): string {
  return result.notices.map((notice) => `\n(${notice})`).join("");
}

/** What a turn waits for a child's end by. */
function makeKey({ corrected, root, turn }: ChildRow): string {
  return eventKeys.child(corrected ? root : turn);
}

function unseen(session: string): AppError {
  return new AppError("TOOL_INPUT", {
    message: `You have no sub-agent "${session}".`,
    hint: "sessions_list shows them.",
  });
}

function input(message: string): AppError {
  return new AppError("TOOL_INPUT", { message });
}
