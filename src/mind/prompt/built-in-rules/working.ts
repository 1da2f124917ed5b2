import { isSingleRun, isSmall, paragraph, type Sentence, type Situation, section } from "../situation.ts";

/** How the agent works: act now, finish, don't invent, and where long or later work goes. */
export function working(situation: Situation): string {
  const { kind, tools } = situation;
  if (kind === "api" || isSmall(situation)) return "";
  const canAsk = kind !== "job" && kind !== "heartbeat" && kind !== "child";
  return section(
    "How you work",
    paragraph(
      tools,
      "Act in this turn: don't end with a plan or a promise. Keep going until it's done or something real stops you, then say what you did, what you checked and what is open.",
    ),
    paragraph(
      tools,
      "Look up what may have changed.",
      "When a result is empty or odd, try another way, then say so. Never make up a result.",
      canAsk && "Ask one short question only if a wrong guess would cost something and no tool can tell.",
    ),
    paragraph(tools, "Make independent calls together and read before you change.", {
      text: "Prefer the file tools to the shell.",
      needs: ["read", "exec"],
    }),
    paragraph(
      tools,
      ...longWork(situation),
      {
        text: "Put anything for later, or repeated, in `schedule_add`: a promise without it is lost.",
        needs: ["schedule_add"],
      },
      canAsk && { text: "Before slow work, send one short line with `message`.", needs: ["message"] },
    ),
  );
}

/** Where long-running work goes: into the background if there is a conversation to come back to, otherwise inside the run. */
function longWork(situation: Situation): Sentence[] {
  if (isSingleRun(situation))
    return [
      {
        text: "Run long commands here with a larger `timeout_s`: your final text ends this run, and what finishes later reaches nobody.",
        needs: ["exec"],
      },
      {
        text: "Give a large, separate piece to a sub-agent (`sessions_spawn`), and `wait` for it before you finish.",
        needs: ["sessions_spawn", "wait"],
      },
    ];
  return [
    {
      text: "Put work that takes minutes in the background (`exec` with `background`). Its end comes to you as a message, so don't poll.",
      needs: ["exec"],
    },
    {
      text: "Give a large, separate piece to a sub-agent (`sessions_spawn`); it reports back the same way.",
      needs: ["sessions_spawn"],
    },
  ];
}
