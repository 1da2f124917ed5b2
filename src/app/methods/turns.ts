/** Handlers of `turns.*`. */
import { asId, fromJson, type TurnId, toJson } from "../../core/domain/index.ts";
import { countAll, defined, truthy } from "../../core/kit/index.ts";
import { listDeliveries } from "../../flow/outbox/index.ts";
import {
  callFacts,
  countTurns,
  describeStep,
  listCalls,
  listRestarts,
  listTurns,
  type TurnRow,
  toListed,
} from "../../flow/turns/index.ts";
import { scrub } from "../../ground/vault/index.ts";
import { wireApprovals } from "./approvals.ts";
import { findDoubts } from "./attention.ts";
import { waitFor } from "./chat.ts";
import { type Asks, type MethodParts, type Methods, notFound } from "./parts.ts";

export function makeTurnMethods(
  parts: Asks<"turnEnds" | "engine" | "approvals" | "records" | "runtimes"> & Pick<MethodParts, "config" | "redact">,
): Methods<"turns"> {
  const committed = () => parts.instance().records.committed;
  return {
    async "turns.get"(p) {
      const turn = asId<TurnId>(p.turn);
      const row = await parts.instance().turnEnds.read(turn);
      if (!row) throw notFound("turn", p.turn);
      const steps = [];
      // From the engine's journal: the records only know how the turn ended.
      for await (const e of parts.instance().engine.history({ turn })) {
        const { segment, index, kind, name, state, at, endedAt } = e;
        const more = { ...describeStep(e), ...callFacts(e) };
        steps.push({ segment, index, kind, name, state, at, ...defined({ endedAt }), ...more });
      }
      const { segment = 0, index = 0 } = steps.at(-1) ?? {};
      const calls = () => listCalls(committed(), turn);
      const ran = await parts.instance().runtimes.runs.steps(turn, calls, { segment, index });
      const { result } = row;
      return {
        turn,
        session: row.session,
        agent: row.agent,
        state: readState(parts, row),
        acceptedAt: row.acceptedAt,
        ...defined({ startedAt: row.startedAt, endedAt: row.endedAt }),
        ...(result ? { response: result.text, usage: result.usage } : {}),
        ...truthy({ reason: result?.reason, model: result?.model, practice: result?.practice }),
        ...truthy({ failure: result?.failure, joined: result?.joined }),
        notices: result?.notices ?? [],
        approvals: await wireApprovals(
          parts,
          await parts.instance().approvals.list({ pendingOnly: false, turn, limit: 100 }),
        ),
        steps: [...steps, ...fromJson<typeof ran>(scrub(toJson(ran), parts.redact))],
        restarts: await listRestarts(committed(), turn),
        deliveries: await listDeliveries(committed(), turn),
      };
    },
    // The same wait as chat.send, for a client whose connection broke in between.
    "turns.wait": (p, caller) => waitFor(parts, asId<TurnId>(p.turn), false, caller.signal),
    async "turns.list"(p) {
      const asked = {
        ...truthy({ session: p.session, open: p.open }),
        ...defined({ states: p.states, before: p.before }),
      };
      const limit = p.limit ?? 50;
      const rows = await listTurns(committed(), { ...asked, limit });
      const doubt = await findDoubts(committed(), rows, ({ id }) => id);
      return {
        total: await countAll(rows, limit, () => countTurns(committed(), asked)),
        turns: rows.map((row) => ({ ...toListed(row, readState(parts, row)), ...doubt(row) })),
      };
    },
  };
}

/** The row says queued until it ends; the engine knows what runs. */
export function readState(parts: Asks<"engine">, row: TurnRow): TurnRow["state"] {
  if (row.endedAt !== undefined) return row.state;
  return parts.instance().engine.running(row.session) === row.id ? "running" : row.state;
}
