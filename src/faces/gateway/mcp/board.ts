/** The board, for other agents: what there is to do, how it stands, and adding to it. */
import { z } from "zod";
import { truthy } from "../../../core/kit/index.ts";
import { idempotencyKey, METHODS, type Result } from "../../../core/protocol/index.ts";
import { type ServedTool, tool } from "./catalogue.ts";

const ref = z.string().min(1).max(64).describe("its number, such as 12");
const key = idempotencyKey.optional().describe("your own id of this call: repeated with the same key, it is done once");
const fields = METHODS["board.create"].in.shape;
const task = z.object({
  number: z.number(),
  title: z.string(),
  state: z.string(),
  who: z.string().optional(),
  why: z.string().optional(),
});

export const boardTools: readonly ServedTool[] = [
  tool({
    name: "board_list",
    title: "List tasks",
    description: "The board's tasks: who has them and how they stand.",
    scope: "read",
    in: z.strictObject({ limit: z.number().int().min(1).max(200).optional().describe("50") }),
    out: z.object({ tasks: z.array(task) }),
    hints: { readOnlyHint: true },
    run: async ({ limit = 50 }, at) => ({ tasks: (await at.call("board.list", { limit })).tasks.map(toTask) }),
  }),
  tool({
    name: "board_get",
    title: "Read a task",
    description: "One task: what is to be done, what was said and how it was judged.",
    scope: "read",
    in: z.strictObject({ task: ref }),
    out: task.extend({
      description: z.string(),
      comments: z.array(z.object({ author: z.string(), text: z.string() })),
      verdicts: z.array(z.object({ clean: z.boolean(), why: z.string() })),
    }),
    hints: { readOnlyHint: true },
    async run(asked, at) {
      const found = await at.call("board.get", asked);
      return {
        ...toTask(found),
        description: found.description,
        comments: found.comments.map(({ author, text }) => ({ author, text })),
        verdicts: found.verdicts.map(({ clean, why }) => ({ clean, why })),
      };
    },
  }),
  tool({
    name: "board_create",
    title: "Add a task",
    description: "Add a task for an agent, a role or a person. It is done in the background, and checked.",
    // Work that starts with nobody watching, as a schedule: text from outside can't make it (I12).
    scope: "admin",
    in: z.strictObject({
      title: fields.title,
      description: fields.description,
      acceptance: fields.acceptance,
      assignee: fields.assignee,
      team: fields.team,
      key,
    }),
    out: task,
    hints: { readOnlyHint: false, destructiveHint: false },
    async run({ key: given, ...asked }, at) {
      const idempotencyKey = given ?? at.key;
      return toTask(await at.call("board.create", { ...asked, ...truthy({ idempotencyKey }) }));
    },
  }),
  tool({
    name: "board_comment",
    title: "Comment on a task",
    description: "Add a comment to a task.",
    scope: "write",
    in: z.strictObject({ task: ref, text: z.string().min(1).max(8000), key }),
    out: task,
    hints: { readOnlyHint: false, destructiveHint: false },
    async run({ key: given, ...asked }, at) {
      const idempotencyKey = given ?? at.key;
      return toTask(await at.call("board.comment", { ...asked, ...truthy({ idempotencyKey }) }));
    },
  }),
];

function toTask(found: Result<"board.list">["tasks"][number]): z.input<typeof task> {
  const { number, title, state, why, holder, assignee } = found;
  return { number, title, state, ...truthy({ who: holder ?? assignee?.name, why }) };
}
