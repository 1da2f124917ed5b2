/**
 * What needs a person, gathered from every room: approvals, failures, actions with an unknown outcome, channels that receive
 * nothing. "Nothing needs you" is shown only when this list is empty.
 *
 * ATTENTION-1: an ongoing condition (an approval, a dead channel, a paused watcher, a settings problem) can't be dismissed: it
 * disappears when it is fixed. A past event stays until somebody dismisses it, across restarts.
 * ATTENTION-2: turns that the same budget declined are one thing with a count, also where things are counted. Dismissing it dismisses
 * them all.
 */
import type { Reads, Tx } from "../../core/contracts/index.ts";
import {
  AppError,
  type ApprovalView,
  assertNever,
  attentionCursor,
  attentionIds,
  attentionKind,
  readAttentionCursor,
  readStepName,
  showToolName,
  toAccountName,
} from "../../core/domain/index.ts";
import { defined, truthy } from "../../core/kit/index.ts";
import type { Result } from "../../core/protocol/index.ts";
import {
  countFound,
  dismiss,
  type FoundRow,
  type Happened,
  isStoredKind,
  listFound,
  readResult,
  routeIn,
  type StoredKind,
} from "./store.ts";

export type Attention = Result<"attention.list">["items"][number];

/** Where what needs a person is found. */
export interface AttentionParts {
  /** Only what is durable. */
  db: Reads;
  happened: Happened;
  write(work: (tx: Tx) => void): Promise<void>;
  approvals: {
    list(q: { pendingOnly: true; limit: number }): Promise<readonly ApprovalView[]>;
    countPending(): Promise<number>;
  };
  watches(): Promise<
    readonly {
      name: string;
      agent: string;
      error?: string | undefined;
      isPaused?: boolean | undefined;
      lastAt?: number | undefined;
    }[]
  >;
  accounts(): readonly {
    channel: string;
    account: string;
    state: string;
    detail?: string | undefined;
    hearing?: boolean | undefined;
    sending?: boolean | undefined;
    heardAt?: number | undefined;
  }[];
  problems: readonly string[];
  now: number;
}

export async function listAttention(
  parts: AttentionParts,
  q: { limit: number; after?: string | undefined },
): Promise<Result<"attention.list">> {
  const { db } = parts;
  const from = q.after === undefined ? undefined : readAttentionCursor(q.after);
  const now = from ? [] : await standing(parts, q.limit);
  const rows = (await listFound(db, parts.happened, from, q.limit + 1))
    .map(asItem)
    .sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
  const page = rows.slice(0, q.limit);
  const last = page.at(-1);
  return {
    items: [...now, ...page],
    total: await countAttention(parts),
    ...(rows.length > page.length && last ? { next: attentionCursor(last) } : {}),
  };
}

export async function countAttention(parts: AttentionParts): Promise<number> {
  const [happened, pending, others] = await Promise.all([
    countFound(parts.db, parts.happened),
    parts.approvals.countPending(),
    conditions(parts),
  ]);
  return happened + pending + others.length;
}

export async function dismissAttention(
  parts: Pick<AttentionParts, "write" | "now" | "happened">,
  ids: readonly string[],
  by: string,
): Promise<void> {
  const fixed = ids.find((id) => !isStoredKind(attentionKind(id)));
  if (fixed !== undefined) {
    throw new AppError("BAD_REQUEST", {
      message: `"${fixed}" is still the case and can't be dismissed.`,
      hint: "It disappears once it's fixed; the list says how.",
      details: { field: "ids" },
    });
  }
  await parts.write((tx) => dismiss(tx, parts.happened, ids, { by, at: parts.now }));
}

/** Everything that happened up to now. */
export async function dismissAll(parts: AttentionParts, by: string): Promise<number> {
  let n = 0;
  for (;;) {
    const { items } = await listAttention(parts, { limit: 500 });
    const ids = items.filter((item) => item.dismissible).map((item) => item.id);
    if (!ids.length) return n;
    await dismissAttention(parts, ids, by);
    n += ids.length;
  }
}

/** Ongoing conditions: approvals first, oldest on top, then what doesn't work. */
async function standing(parts: AttentionParts, limit: number): Promise<Attention[]> {
  const asked = await parts.approvals.list({ pendingOnly: true, limit });
  return [
    ...asked.map(
      ({ id, tool, shown, askedAt, deadline, agent, session, turn }): Attention => ({
        id: attentionIds.approval(id),
        kind: "approval",
        at: askedAt,
        text: `${agent} asks: ${firstLine(shown) || tool}`,
        dismissible: false,
        until: deadline,
        agent,
        session,
        turn,
        approval: id,
      }),
    ),
    ...(await conditions(parts)),
  ];
}

async function conditions(parts: AttentionParts): Promise<Attention[]> {
  const { problems, now } = parts;
  const watches = await parts.watches();
  return [
    ...problems.map(
      (text, i): Attention => ({ id: attentionIds.problem(i), kind: "problem", at: now, text, dismissible: false }),
    ),
    ...parts
      .accounts()
      .filter((one) => one.state === "down")
      .map(({ channel, account, detail, hearing, sending, heardAt }): Attention => {
        const cannot = sending === false ? "cannot send" : "is not connected";
        const what = hearing === false ? "is not receiving" : cannot;
        const text = `${toAccountName({ channel, account })} ${what}${detail ? `: ${detail}` : "."}`;
        return {
          id: attentionIds.channel({ channel, account }),
          kind: "channel",
          at: heardAt ?? now,
          text,
          dismissible: false,
        };
      }),
    ...watches.flatMap(({ name, agent, error, isPaused, lastAt }): Attention[] => {
      if (!error && !isPaused) return [];
      const text = `${name} ${isPaused ? "is paused" : "cannot be watched"}: ${error ?? ""}`;
      return [{ id: attentionIds.watch(name), kind: "watch", at: lastAt ?? now, text, dismissible: false, agent }];
    }),
  ];
}

function asItem(row: FoundRow & { kind: StoredKind }): Attention {
  const { id, kind, at, session, agent, turn } = row;
  const place = truthy({ session, agent, turn });
  return { id, kind, at, dismissible: true, ...place, ...words(kind, row) };
}

function words(kind: StoredKind, row: FoundRow): Pick<Attention, "text" | "failure" | "state" | "count"> {
  switch (kind) {
    case "turn": {
      const { reason, failure } = readResult(row);
      const said = reason ?? "The turn failed.";
      const state = row.a as Attention["state"];
      if (row.n === 1) return { text: said, state, ...defined({ failure }) };
      return { text: `${said} ${row.n} turns ended like this.`, state, count: row.n, ...defined({ failure }) };
    }
    case "effect":
      return { text: `${effectName(row)} may or may not have happened.`, failure: "unknown-outcome" };
    case "delivery": {
      const { route, error } = routeIn(row);
      const what = row.a === "uncertain" ? "may or may not have arrived" : "was not delivered";
      return { text: `A message to ${toAccountName(route)} ${what}${error ? `: ${error}` : "."}` };
    }
    case "job":
      return { text: `The job "${row.a}" failed: ${row.b ?? "no reason was recorded"}` };
    default:
      return assertNever(kind);
  }
}

/** `b`: the tool that was run inside, where one was. Those of servers are shown as rules name them. */
function effectName({ a, b }: FoundRow): string {
  const name = a ?? "";
  const does = readStepName(name);
  if (does.kind !== "tool") return `The step ${name}`;
  return `A call of ${showToolName(b ?? does.tool)}`;
}

function firstLine(text: string): string {
  return (text.split("\n")[0] ?? "").slice(0, 200);
}
