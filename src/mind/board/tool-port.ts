import type { ToolCaller } from "../../core/contracts/index.ts";
import {
  type Acceptance,
  AppError,
  type Assignee,
  asId,
  type Handoff,
  type Origin,
  type SessionKey,
  type TurnId,
} from "../../core/domain/index.ts";
import { defined } from "../../core/kit/index.ts";
import { type Board, readAssignee } from "./board.ts";
import { describeProof } from "./words.ts";
import type { BoardWork } from "./work.ts";

/** Tasks that a model sees at once. */
const MOST_LISTED = 50;

/** What the board tools see. What an agent makes has the rights of the turn that made it, and no more. */
export function makeBoardToolPort(
  board: Board,
  work: Pick<BoardWork, "handIn">,
  hasReadOutside: (session: SessionKey) => Promise<boolean>,
) {
  const isOwn = async (caller: ToolCaller): Promise<Origin> =>
    caller.authority === "owner" && !(await hasReadOutside(asId(caller.session))) ? "own" : "outside";
  return {
    async list(caller: ToolCaller) {
      const { tasks } = await board.list({ limit: MOST_LISTED });
      return {
        // Titles are what people and other agents wrote.
        origin: await isOwn(caller),
        tasks: tasks.map((task) => ({
          number: task.number,
          title: task.title,
          state: task.state,
          ...defined({ who: task.holder ?? readAssignee(task)?.name }),
        })),
      };
    },
    async get(ref: string) {
      const { task, needs, comments, verdicts } = await readable(() => board.read(ref));
      const last = verdicts.at(-1);
      return {
        number: task.number,
        title: task.title,
        state: task.state,
        description: task.description,
        proof: describeProof(JSON.parse(task.acceptance) as Acceptance),
        needs: needs.map(({ number, title, state }) => ({ number, title, state })),
        comments: comments.slice(-10).map(({ author, text }) => ({ author, text })),
        ...defined({ why: task.why ?? undefined, verdict: last?.why }),
      };
    },
    async create(given: {
      key: string;
      title: string;
      description?: string;
      acceptance?: Acceptance;
      assignee?: Assignee;
      parent?: string;
      needs?: readonly string[];
      team?: string;
      caller: ToolCaller;
    }) {
      const { caller, ...task } = given;
      const session = asId<SessionKey>(caller.session);
      const made = await readable(async () =>
        board.create(task, {
          kind: "agent",
          name: caller.agent,
          agent: caller.agent,
          session,
          route: caller.route,
          authority: caller.authority ?? "stranger",
          outside: await hasReadOutside(session),
        }),
      );
      return { number: made.number, state: made.state };
    },
    async comment(ref: string, text: string, key: string, caller: ToolCaller) {
      const { number } = await readable(() => board.comment(ref, text, { who: "member", name: caller.agent }, key));
      return { number };
    },
    handIn: (result: string, handoff: Handoff, caller: ToolCaller) =>
      work.handIn(asId<TurnId>(caller.turn), result, handoff),
  };
}

/** What a model got wrong is its input's fault, and it reads why. */
async function readable<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new AppError("TOOL_INPUT", { message: error.message, ...defined({ hint: error.hint ?? undefined }) });
  }
}
