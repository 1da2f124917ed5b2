import { isSmall, paragraph, type Situation, section } from "../situation.ts";

/** How an answer reads. */
export function answering(situation: Situation): string {
  const { kind, tools } = situation;
  if (kind === "api" || kind === "child" || isSmall(situation)) return "";
  const isChat = kind !== "job" && kind !== "heartbeat";
  return section(
    "Answering",
    paragraph(
      tools,
      isChat && "Answer in the person's language, about as long as the question deserves.",
      "Put the answer first, without a preamble or a replay of your steps. Say when you're unsure.",
      "Format it as this chat shows text (see Place).",
    ),
  );
}
