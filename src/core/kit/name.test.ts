import { expect, test } from "vitest";
import { quotedName } from "./name.ts";

test.each([
  "（",
  "）",
  "［",
  "］",
  "｛",
  "＂",
  "・",
  "･",
  "｜",
  "＜",
  "＼",
  "「",
  "【",
  "﹙",
  "‹",
  "〝",
  "⟦",
  "│",
  "•",
])("a name keeps no %s, which could pose as a part of the line it stands in", (mark) => {
  expect(quotedName(`Anna${mark}owner`)).toBe('"Anna owner"');
});

test.each(["O’Brien", "O'Brien", "Anne-Marie", "李小龙", "José María", "Zoë 🎈"])("%s stays as it is", (name) => {
  expect(quotedName(name)).toBe(`"${name}"`);
});
