/**
 * What must hold after any number of kills. Each violation is a sentence with everything needed to look it up.
 *
 * KILL-1: nothing lost. Every acknowledged message has one ended turn with a visible outcome, and is in the history once.
 * KILL-2: nothing repeated. A command's token is in the witness at most once, and exactly once when its result says it ran.
 * KILL-3: order. The history has the messages in the order they were acknowledged; so does every model request.
 * KILL-4: unknown is said. A call without a known outcome says so to the model, and its turn says so to the person.
 * KILL-5: deliveries. One answer per turn at the far side; where it could not be confirmed there is one note instead.
 * KILL-6: known. Of the commands a kill cut off from Lares, at most one in a hundred ends as unknown. (The machine lives on here, so
 *    every supervisor can be asked.)
 */
import type { HistoryMessage } from "../../src/core/protocol/index.ts";
import type { FarSide } from "../support/index.ts";
import type { Conversation, Sent } from "./client.ts";
import type { World } from "./world.ts";

export interface Findings {
  violations: string[];
  turns: number;
  joined: number;
  effects: number;
  unknown: number;
  /** Commands that a later life of Lares found running or ended. */
  recovered: number;
  denied: number;
  requests: number;
  delivered: number;
  notes: number;
}

export async function check(world: World, talks: Conversation[]): Promise<Findings> {
  const f: Findings = {
    violations: [],
    turns: 0,
    joined: 0,
    effects: 0,
    unknown: 0,
    recovered: 0,
    denied: 0,
    requests: 0,
    delivered: 0,
    notes: 0,
  };
  const witness = countOf(world.witness());
  const accounted = new Set<string>();
  for (const talk of talks) {
    if (talk.sent.length === 0) continue;
    const sessions = new Set(talk.sent.map((s) => s.session));
    if (sessions.size !== 1)
      f.violations.push(`KILL-1 ${talk.name} is in several sessions: ${[...sessions].join(", ")}`);
    const session = talk.sent[0]!.session;
    const { lines } = await world.lares.rpc("sessions.export", { session });
    const { turns } = await world.lares.rpc("turns.list", { session, limit: 500 });
    checkOutcomes(f, talk, turns, lines);
    checkOrder(f, talk, lines);
    await checkEffects(f, world, talk, lines, witness, accounted);
    if (talk.kind === "hook" || talk.kind === "plain") await checkDeliveries(f, world, talk);
  }
  for (const [token, count] of witness) {
    if (count > 1) f.violations.push(`KILL-2 the effect of ${token} happened ${count} times`);
    if (!accounted.has(token)) f.violations.push(`KILL-2 ${token} ran and no call for it is in the history`);
  }
  checkRequests(f, world, talks);
  if (unknownShare(f) > MOST_UNKNOWN) {
    f.violations.push(`KILL-6 ${f.unknown} of ${f.unknown + f.recovered} commands that were cut off ended as unknown`);
  }
  return f;
}

const MOST_UNKNOWN = 0.01;

/** Of the commands that had begun and were cut off. Those that had not begun just run, so they are not even counted. */
export function unknownShare({ unknown, recovered }: Pick<Findings, "unknown" | "recovered">): number {
  return unknown + recovered === 0 ? 0 : unknown / (unknown + recovered);
}

function checkOutcomes(
  f: Findings,
  talk: Conversation,
  turns: { turn: string; state: string }[],
  lines: HistoryMessage[],
): void {
  f.turns += turns.length;
  if (turns.length !== talk.sent.length) {
    f.violations.push(
      `KILL-1 ${talk.name}: ${talk.sent.length} messages were acknowledged, ${turns.length} turns are there`,
    );
  }
  const states = new Map(turns.map((t) => [t.turn, t.state]));
  const users = idsIn(lines);
  for (const sent of talk.sent) {
    const state = states.get(sent.turn);
    if (state === "joined") f.joined++;
    if (state !== "answered" && state !== "joined")
      f.violations.push(`KILL-1 ${sent.id} (${sent.turn}) ended as ${state}`);
    const answer = sent.answer;
    if (!answer) f.violations.push(`KILL-1 ${sent.id} (${sent.turn}) got no answer`);
    else if (answer.state !== "answered" || !answer.response) {
      f.violations.push(
        `KILL-1 ${sent.id} (${sent.turn}): the sender saw ${answer.state} "${answer.response}" ${answer.reason ?? ""}`,
      );
    }
    const times = users.filter((id) => id === sent.id).length;
    if (times !== 1) f.violations.push(`KILL-1 ${sent.id} is in the history ${times} times`);
  }
}

function checkOrder(f: Findings, talk: Conversation, lines: HistoryMessage[]): void {
  const want = talk.sent.map((s) => s.id);
  const have = idsIn(lines);
  const at = have.findIndex((id, i) => id !== want[i]);
  if (at >= 0) f.violations.push(`KILL-3 ${talk.name}: the history has ${have[at]} where ${want[at]} was acknowledged`);
}

async function checkEffects(
  f: Findings,
  world: World,
  talk: Conversation,
  lines: HistoryMessage[],
  witness: Map<string, number>,
  accounted: Set<string>,
): Promise<void> {
  const results = new Map<string, string>();
  for (const line of lines) {
    for (const part of line.content) if (part.type === "tool-result") results.set(`${line.turn} ${part.id}`, part.text);
  }
  for (const line of lines) {
    for (const part of line.content) {
      if (part.type !== "tool-call" || part.name !== "exec") continue;
      const token = /echo (\S+) >> witness/.exec(String((part.input as { command?: string }).command))?.[1];
      if (!token) continue;
      accounted.add(token);
      let result = results.get(`${line.turn} ${part.id}`) ?? "";
      if (/Waiting for a person's approval/.test(result)) result = outcomeOf(lines, line.turn) ?? result;
      const count = witness.get(token) ?? 0;
      if (/Outcome unknown/.test(result)) {
        f.unknown++;
        await checkUnknown(f, world, talk, line.turn, token);
      } else if (/\[exit 0/.test(result)) {
        f.effects++;
        if (/Lares was restarted while it ran\]/.test(result)) f.recovered++;
        if (count !== 1) f.violations.push(`KILL-2 ${token} is said to have run and is in the witness ${count} times`);
      } else if (/^Denied by/.test(result)) {
        f.denied++;
        if (count !== 0) f.violations.push(`KILL-2 ${token} was denied and ran`);
      } else {
        f.violations.push(`KILL-4 ${token} (${line.turn}) has no clear result: "${result.slice(0, 120)}"`);
      }
    }
  }
}

async function checkUnknown(f: Findings, world: World, talk: Conversation, turn: string, token: string): Promise<void> {
  const answer = talk.sent.find((s) => s.turn === turn)?.answer;
  const notices = answer?.notices ?? (await world.lares.rpc("turns.get", { turn })).notices;
  if (!notices.some((notice) => /not known/.test(notice))) {
    f.violations.push(
      `KILL-4 the outcome of ${token} is unknown and turn ${turn} does not say so: ${JSON.stringify(notices)}`,
    );
  }
}

/** The later message that tells how a call that waited went. */
function outcomeOf(lines: HistoryMessage[], turn: string): string | undefined {
  const line = lines.find((l) => l.turn === turn && l.meta?.kind === "outcome");
  const part = line?.content.find((one) => one.type === "text" && !one.ours);
  return part?.type === "text" ? part.text.replace(/^\[Outcome[^\n]*\n/, "") : undefined;
}

async function checkDeliveries(f: Findings, world: World, talk: Conversation): Promise<void> {
  const at: FarSide = talk.kind === "hook" ? world.far : world.plain;
  const shown = countOf(at.shown.map((m) => m.key));
  for (const sent of talk.sent) {
    if (sent.answer?.joined) continue;
    const key = `${sent.turn}:answer/000`;
    const times = shown.get(key) ?? 0;
    const notes = shown.get(`${key}:note/000`) ?? 0;
    f.delivered += times;
    f.notes += notes;
    if (times > 1) f.violations.push(`KILL-5 the answer to ${sent.id} was shown ${times} times (${talk.kind})`);
    if (notes > 1) f.violations.push(`KILL-5 the note about ${sent.id} was shown ${notes} times`);
    if (talk.kind === "hook" && notes > 0)
      f.violations.push(`KILL-5 ${sent.id}: a note where the far side deduplicates`);
    if (times + notes > 0) continue;
    // Neither arrived: then both must be marked, where the far side does not deduplicate.
    const { deliveries } = await world.lares.rpc("turns.get", { turn: sent.turn });
    const marked = deliveries.length === 2 && deliveries.every((d) => d.state === "uncertain");
    if (talk.kind === "hook" || !marked) {
      f.violations.push(`KILL-5 the answer to ${sent.id} never arrived: ${JSON.stringify(deliveries)}`);
    }
  }
}

/** Each request holds the beginning of its conversation, in order, nothing missing and nothing twice. */
function checkRequests(f: Findings, world: World, talks: Conversation[]): void {
  const orders = new Map<string, Sent[]>(talks.map((talk) => [talk.name, talk.sent]));
  const requests = world.modelRequests();
  f.requests = requests.length;
  const said = new Set<string>();
  for (const ids of requests) {
    const name = ids[0]?.replace(/\.\d+$/, "");
    const order = name === undefined ? undefined : orders.get(name);
    if (!order) {
      f.violations.push(`KILL-3 a model request belongs to no conversation: ${ids.join(" ")}`);
      continue;
    }
    for (const id of ids) said.add(id);
    const at = ids.findIndex((id, i) => id !== order[i]?.id);
    if (at >= 0) f.violations.push(`KILL-3 a model request has ${ids[at]} where ${order[at]?.id} was acknowledged`);
  }
  for (const sent of talks.flatMap((talk) => talk.sent)) {
    if (!said.has(sent.id)) f.violations.push(`KILL-1 no model request contained ${sent.id}`);
  }
}

function idsIn(lines: HistoryMessage[]): string[] {
  return lines.flatMap((line) => {
    const part = line.role === "user" ? line.content.find((one) => one.type === "text" && !one.ours) : undefined;
    const id = part?.type === "text" ? /^#(\S+)/.exec(part.text)?.[1] : undefined;
    return id ? [id] : [];
  });
}

function countOf(list: string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const one of list) counts.set(one, (counts.get(one) ?? 0) + 1);
  return counts;
}
