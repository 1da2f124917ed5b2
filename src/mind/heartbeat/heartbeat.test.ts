import { describe, expect, test } from "vitest";
import { expectLinear } from "../../../test/support/growth.ts";
import { isActive, readChecklist } from "./index.ts";

describe("active hours", () => {
  const at = (text: string) => {
    const [hour, minute] = text.split(":").map(Number) as [number, number];
    return hour * 60 + minute;
  };
  test.each([
    ["08:00-22:00", "08:00", true],
    ["08:00-22:00", "21:59", true],
    ["08:00-22:00", "22:00", false],
    ["08:00-22:00", "03:00", false],
    ["22:00-06:00", "23:30", true],
    ["22:00-06:00", "00:00", true],
    ["22:00-06:00", "05:59", true],
    ["22:00-06:00", "06:00", false],
    ["22:00-06:00", "12:00", false],
    ["00:00-24:00", "23:59", true],
    ["09:00-09:00", "03:00", true],
    [undefined, "03:00", true],
  ])("%s at %s: %s", (hours, wall, active) => expect(isActive(hours, at(wall))).toBe(active));
});

describe("a checklist", () => {
  test("has lines as items; headings, notes, comments and what is done are none", () => {
    const items = readChecklist(
      [
        "# What to look after",
        "(Nothing yet. Lines written here are checked.)",
        "<!-- a comment",
        "over two lines -->",
        "- [ ] Answer the landlord (due 2026-11-20 09:00)",
        "- [x] done already",
        "* Look whether the backup ran (every 1 day)",
        "Keep the summary up to date (when notes/today.md changes)",
        "- Tell me about anything that failed (soon)",
        "- (every 2 hours) look at the queue (it is long), then tidy up",
        "- Water (every day), but only (when rain.txt changes) it is dry",
        "",
      ].join("\n"),
    );
    expect(items.map(({ key: _key, ...item }) => item)).toEqual([
      { text: "Answer the landlord (due 2026-11-20 09:00)", due: "2026-11-20 09:00" },
      { text: "Look whether the backup ran (every 1 day)", every: "1 day" },
      { text: "Keep the summary up to date (when notes/today.md changes)", watch: "notes/today.md" },
      { text: "Tell me about anything that failed (soon)" },
      { text: "(every 2 hours) look at the queue (it is long), then tidy up", every: "2 hours" },
      { text: "Water (every day), but only (when rain.txt changes) it is dry", every: "day", watch: "rain.txt" },
    ]);
  });

  test("a line with two hints of one kind is marked, and the first counts", () => {
    const [twice, once] = readChecklist("- Water (every day) or (every 2 hours)\n- Look (every day) (due tomorrow)");
    expect(twice).toMatchObject({ every: "day", twice: "every" });
    expect(once).not.toHaveProperty("twice");
  });

  test("with hostile brackets is read in one pass", () => {
    for (const piece of ["(", "(when\t", "(every ", "( \t", "when  changes "])
      expectLinear((size) => readChecklist(`- ${piece.repeat(size)})`), 50_000);
  });
});
