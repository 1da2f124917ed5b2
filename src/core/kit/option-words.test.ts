import { expect, test } from "vitest";
import { isCutShort } from "./option-words.ts";

test.each(["--u", "--upl", "--upl=x", "--upload-pack", "--upload-pack=a=b"])("%s may be --upload-pack", (word) =>
  expect(isCutShort(word, ["exec", "upload-pack"])).toBe(true),
);
test.each(["--", "-u", "u", "", "--=x", "--update", "--upload-packs", "--no-upload-pack"])("%j is not", (word) =>
  expect(isCutShort(word, ["exec", "upload-pack"])).toBe(false),
);
