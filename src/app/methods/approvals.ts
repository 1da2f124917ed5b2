/** Handlers of `approvals.*`. */
import type { ApprovalView, Danger, QuestionForm, RunsWhere } from "../../core/domain/index.ts";
import { defined, truthy } from "../../core/kit/index.ts";
import type { Approval } from "../../core/protocol/index.ts";
import { findAskers } from "../../flow/turns/index.ts";
import { type Asks, type Methods, notFound } from "./parts.ts";

export function makeApprovalMethods(parts: Asks<"approvals" | "records">): Methods<"approvals"> {
  return {
    async "approvals.list"(p) {
      // Open ones only, unless all are asked for: pages count these.
      const asked = { pendingOnly: p.state !== "all", ...truthy({ session: p.session }) };
      const { found, ...counts } = await parts.instance().approvals.page({ ...asked, limit: p.limit ?? 100 });
      return { approvals: await wireApprovals(parts, found), ...counts };
    },
    async "approvals.get"(p) {
      const found = await parts.instance().approvals.get(p.id);
      if (!found) throw notFound("approval", p.id);
      // Lists leave out the whole text, which can be long; a single approval has it.
      const { whole } = found.action;
      return { ...(await wireApproval(parts, found)), ...(typeof whole === "string" ? { whole } : {}) };
    },
    async "approvals.resolve"(p, caller) {
      // The history says who answered, so the name comes from the credential and never from the request.
      const by = caller.principal.name;
      const answer = { decision: p.decision, by, ...truthy({ reason: p.reason }), ...defined({ answers: p.answers }) };
      return wireApproval(parts, await parts.instance().approvals.resolve(p.id, answer));
    },
    "approvals.rules": async (p) => ({ rules: await parts.instance().approvals.rules(p.agent) }),
    "approvals.forget": async (p) => ({ forgotten: await parts.instance().approvals.forget(p.agent, p.rule) }),
  };
}

/** Of the action only the rule goes out: the rest is shown by the tool in its own words. */
export async function wireApprovals(parts: Asks<"records">, asked: readonly ApprovalView[]): Promise<Approval[]> {
  if (asked.length === 0) return [];
  // One query for all of them: a list has up to a hundred.
  const askers = await findAskers(
    parts.instance().records.committed,
    asked.map((a) => a.turn),
  );
  return asked.map(({ action, ...rest }) => {
    const askedBy = askers.get(rest.turn);
    return {
      ...rest,
      ...(typeof action.rule === "string" && action.rule ? { rule: action.rule } : {}),
      ...(typeof action.whole === "string" ? { cut: true } : {}),
      ...truthy({ where: action.where as RunsWhere | undefined, form: action.form as QuestionForm | undefined }),
      ...truthy({ askedBy, dangers: action.dangers as Danger[] | undefined }),
    };
  });
}

/** A single approval takes the same path, so both look the same. */
export async function wireApproval(parts: Asks<"records">, asked: ApprovalView): Promise<Approval> {
  return (await wireApprovals(parts, [asked]))[0]!;
}
