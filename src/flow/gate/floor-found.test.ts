import { expect, test } from "vitest";
import { destroysFound, startedByFind } from "./floor-found.ts";

test.each([
  "rm -f",
  "/bin/shred -u",
  "mv -t /tmp",
  "sed -i s/a/b/",
  "gzip",
  "cp /dev/null",
  "dd if=/dev/zero of={}",
  "sudo rm",
  "env A=b rm",
])("%s destroys what it is handed", (text) => expect(destroysFound(text.split(" "), { appended: true })).toBe(true));

test.each(["cat", "grep -l x", "sed s/a/b/", "gzip -k", "cp {} /backup", "dd if={}", "bash -l", "wc"])(
  "%s does not",
  (text) => expect(destroysFound(text.split(" "), { appended: true })).toBe(false),
);

test("a text given to a shell counts, and code that writes", () => {
  expect(destroysFound(["sh", "-c", 'rm "$@"'], { appended: true })).toBe(true);
  expect(destroysFound(["bash", "-c", ': > "$1"'], { appended: true })).toBe(true);
  expect(destroysFound(["sh", "-c", 'wc "$@"'], { appended: true })).toBe(false);
  expect(destroysFound(["python3", "-c", "os.unlink(p)"], { appended: true })).toBe(true);
});

test("each command that find starts is taken out", () => {
  expect(startedByFind(". -name x -exec rm -f {} ; -exec ls {} +".split(" "))).toEqual([
    ["rm", "-f", "{}"],
    ["ls", "{}"],
  ]);
  expect(startedByFind(["-x", "cat"])).toEqual([["cat"]]);
  expect(startedByFind([".", "-name", "x"])).toEqual([]);
});
