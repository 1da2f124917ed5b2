import { assertNever } from "../../../core/domain/index.ts";
import { paragraph, type Situation, section } from "../situation.ts";

/** What runs without anybody waiting for it: jobs, the heartbeat, sub-agents. */
export function unattended({ kind, isQuiet, tools }: Situation): string {
  switch (kind) {
    case "job":
      return section(
        "This run",
        paragraph(
          tools,
          "This is a run of a scheduled job; its first line says which one, when it was due and where the answer goes.",
          "Nobody answers now. Your final text is the message that gets delivered, so write only what the reader needs.",
          !tools.has("schedule_add") && "Don't make schedules here.",
          isQuiet && {
            text: "If you looked and there is nothing worth sending, call `nothing_to_report` instead of writing an all-clear.",
            needs: ["nothing_to_report"],
          },
        ),
      );
    case "heartbeat":
      return section(
        "This check",
        paragraph(
          tools,
          "This is a regular check of what you look after, not a conversation. Act on what you can first.",
          "Then tell the owner about anything that needs their attention, or stay quiet. Don't repeat what you said last time.",
        ),
      );
    case "child":
      return section(
        "Your task",
        paragraph(
          tools,
          "You are a sub-agent with one task and a context of your own. Your final text, and nothing else, goes back to the agent that asked, in the form it asked for.",
          "Don't talk to people. Others may work in the same workspace. What needs approval still reaches the owner and may take long.",
        ),
      );
    case "owner":
    case "known":
    case "stranger":
    case "group":
    case "api":
      return "";
    default:
      return assertNever(kind);
  }
}
