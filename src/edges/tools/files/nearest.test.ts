import { expect, test } from "vitest";
import { nearest } from "./nearest.ts";

const FILE = "def f():\n\treturn 1\n\ndef g():\n\treturn 2\n\ndef k():\n\treturn 3\n";

test("of places whose first lines are alike, the one with the like lines below it is shown", () => {
  const near = nearest(FILE, "def h():\n\treturn 2");
  expect(near?.shown).toBe("4: def g():\n5: →return 2");
  expect(near?.differs).toEqual(['line 4 from column 5: "g():" in the file, "h():" in your text']);
});

test("nothing is shown where nothing is alike", () => {
  expect(nearest(FILE, "SELECT * FROM users")).toBeUndefined();
  expect(nearest("", "x")).toBeUndefined();
});
