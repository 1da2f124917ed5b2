/** What each part of the next request costs, for people. */
import type { Records } from "../../core/contracts/index.ts";
import type { AgentId, SessionKey } from "../../core/domain/index.ts";
import { AppError } from "../../core/domain/index.ts";
import { truthy } from "../../core/kit/index.ts";
import { carryText } from "./carry.ts";
import type { Contexts } from "./context.ts";
import { type CompactionRow, countMessages, listCompactions, readSession } from "./store.ts";
import { textTokens } from "./tokens.ts";

export interface ContextLedger {
  session: SessionKey;
  agent: string;
  model: string;
  window: number;
  /** What the next request costs before anything new is said. */
  tokens: number;
  /** Whether the provider counted it, or it is an estimate. */
  counted: boolean;
  /** Compaction starts here. */
  threshold: number;
  /** A longer request is not sent. */
  limit: number;
  sections: LedgerSection[];
  messages: { shown: number; older: number };
  notes: { remembered: string; carried: string };
  compactions: {
    id: string;
    at: number;
    how: "summary" | "mixed" | "extract";
    model?: string;
    focus?: string;
    messages: number;
    before: number;
    after: number;
    state: "in force" | "replaced" | "undone";
  }[];
}

export interface LedgerSection {
  name: "instructions" | "tools" | "remembered" | "carried over" | "messages" | "new";
  tokens: number;
  /** How long it stays byte for byte the same; until then the provider reads it from its cache. */
  stable: "session" | "until compacted" | "grows" | "not yet sent";
}

const SHOWN_COMPACTIONS = 10;

export async function readLedger(
  parts: { contexts: Contexts; records: Records },
  session: SessionKey,
): Promise<ContextLedger> {
  const row = await readSession(parts.records, session);
  if (!row) {
    throw new AppError("NOT_FOUND", {
      message: `There is no session "${session}".`,
      hint: "See them: lares sessions list",
    });
  }
  const view = await parts.contexts.view(session, row.agent as AgentId);
  const carried = carryText(view.carry);
  const sizes = (from: number, to?: number) => view.sizes.slice(from, to).reduce((sum, one) => sum + one, 0);
  const estimates: LedgerSection[] = [
    { name: "instructions", tokens: view.systemTokens, stable: "session" },
    { name: "tools", tokens: view.toolTokens, stable: "session" },
    { name: "remembered", tokens: textTokens(view.snapshot), stable: "until compacted" },
    { name: "carried over", tokens: textTokens(carried), stable: "until compacted" },
    { name: "messages", tokens: sizes(0, view.counted), stable: "grows" },
    { name: "new", tokens: sizes(view.counted), stable: "not yet sent" },
  ];
  const compactions = await listCompactions(parts.records, session, SHOWN_COMPACTIONS);
  return {
    session,
    agent: row.agent,
    model: view.model.id,
    window: view.shares.window,
    tokens: view.tokens,
    counted: view.counted > 0,
    threshold: view.shares.threshold,
    limit: view.shares.limit,
    sections: scaled(estimates, view.tokens),
    messages: {
      shown: view.messages.length,
      older: Math.max((await countMessages(parts.records, session)) - view.messages.length, 0),
    },
    notes: { remembered: view.snapshot, carried },
    compactions: compactions.map((one) => ({
      id: one.id,
      at: one.at,
      how: one.how as "summary",
      messages: one.to_seq - Math.max(one.from_seq, 1),
      before: one.tokens_before,
      after: one.tokens_after,
      state: describeState(one, row.compaction),
      ...truthy({ model: one.model, focus: one.focus }),
    })),
  };
}

/** Scales the parts' estimates so that their sum matches the provider's count. */
function scaled(sections: LedgerSection[], total: number): LedgerSection[] {
  const sum = sections.reduce((all, one) => all + one.tokens, 0);
  return sections.map((one) => ({ ...one, tokens: sum ? Math.round((one.tokens * total) / sum) : 0 }));
}

function describeState(one: CompactionRow, inForce: string | null): "in force" | "replaced" | "undone" {
  if (one.id === inForce) return "in force";
  if (one.undone_at) return "undone";
  return "replaced";
}
