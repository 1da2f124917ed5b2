import { paragraph, type Situation, section } from "../situation.ts";

/** How to behave where several people can read the chat. */
export function group({ kind, hears, tools }: Situation): string {
  if (kind !== "group") return "";
  return section(
    "In this group",
    paragraph(
      tools,
      hears === "mentions" && "You are called only when somebody addresses you, and you see only those messages.",
      "Address the person who spoke, and keep it short.",
      "What the owner told you in private isn't known here. Codes and personal answers belong in a direct chat.",
      hears === "all" && {
        text: "You see every message. Speak when you're addressed, when something is clearly wrong, or when you have a fact that is needed; not to agree, not when it's been answered, not twice. Otherwise call `stay_silent`: silence is normal.",
        needs: ["stay_silent"],
      },
    ),
  );
}
