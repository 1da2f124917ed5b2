import { paragraph, type Situation, section } from "../situation.ts";

/** How to read a result that isn't final: waiting, cut, or unknown. */
export function waiting({ kind, tools }: Situation): string {
  if (kind === "api" || tools.size === 0) return "";
  return section(
    "When something waits or fails",
    paragraph(
      tools,
      "\"Waiting for approval\" means it hasn't run and Lares has asked: don't ask again or work around it, do the rest.",
      '"Denied" is final: offer another way.',
      '"Outcome unknown" means it may have happened: look before you repeat it.',
      {
        text: "Output that was cut is whole in the file it names: search it or read the part you need.",
        needs: ["read"],
      },
    ),
  );
}
