/** Handlers of `board.*`. */
import { AppError, type TaskMove } from "../../core/domain/index.ts";
import { defined } from "../../core/kit/index.ts";
import type { Principal } from "../../core/protocol/index.ts";
import { PRIORITIES, showSummary, showTask } from "../../mind/board/index.ts";
import type { Asks, Methods } from "./parts.ts";

export function makeBoardMethods(parts: Asks<"board">): Methods<"board"> {
  const board = () => parts.instance().board;
  const show = async (task: { id: string }) => showTask(await board().read(task.id));
  return {
    async "board.list"({ limit, parent, ...filter }) {
      const under = parent === undefined ? undefined : (await board().find(parent)).id;
      const { tasks, counts } = await board().list({ ...defined({ ...filter, parent: under }), limit: limit ?? 200 });
      return { tasks: tasks.map(showSummary), counts };
    },
    "board.get": async ({ task }) => showTask(await board().read(task)),
    async "board.create"({ agent, priority, idempotencyKey: _key, ...given }, { principal }) {
      const assignee = given.assignee ?? (agent === undefined ? undefined : { kind: "agent" as const, name: agent });
      const made = await board().create(
        { ...given, ...defined({ assignee, priority: priority && PRIORITIES[priority] }) },
        { kind: "person", name: principal.name, authority: readAuthority(principal) },
      );
      return show(made);
    },
    async "board.update"({ task, priority, idempotencyKey: _key, ...edit }, { principal }) {
      return show(
        await board().edit(task, defined({ ...edit, priority: priority && PRIORITIES[priority] }), person(principal)),
      );
    },
    "board.comment": async ({ task, text }, { principal }) =>
      show(await board().comment(task, text, person(principal))),
    async "board.move"({ task, move, why }, { principal }) {
      mustAnswerFor(move, principal, why);
      return show(await board().movePerson(task, move, person(principal), why ?? null));
    },
    async "board.accept"({ task, said }, { principal }) {
      const by = principal.name;
      const evidence = [{ kind: "word", by, said }] as const;
      return show(await board().accept(task, person(principal), { clean: true, by, why: said, evidence }));
    },
  };
}

function person({ name }: Principal) {
  return { who: "person", name } as const;
}

/** A token that may only write is a known program's; the owner's may do everything. */
function readAuthority({ scopes }: Principal): "owner" | "known" {
  return scopes.has("admin") ? "owner" : "known";
}

/** What nobody knows is settled by somebody who may answer for the owner, and who says what they found. */
function mustAnswerFor(move: TaskMove, { scopes }: Principal, why: string | undefined): void {
  if (move !== "settle") return;
  if (!scopes.has("approvals"))
    throw new AppError("FORBIDDEN", { message: "Settling an unknown task needs the right approvals." });
  if (why === undefined) throw new AppError("BAD_REQUEST", { message: "Say what you found out about what happened." });
}
