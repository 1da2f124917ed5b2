import { expect, test } from "vitest";
import { isHarmlessAwk, judgeAwk } from "./awk.ts";

test.each([
  "{print $1}",
  'BEGIN{FS=","} NR==1{next}',
  "/error/{n++} END{print n}",
  '$2 ~ "x" || $3 < 4 {printf "%s\\n", toupper($1)}',
  "{a[$1]+=$2}",
])("%s only picks and prints", (text) => expect(isHarmlessAwk(text)).toBe(true));

test.each([
  ['{print > "f"}', "writes a file"],
  ['{print | "sh"}', "starts a program"],
  ['BEGIN{system("id")}', "starts a program"],
  ['{getline x < "/etc/passwd"}', "reads any file"],
  ["{print ENVIRON[1]}", "shows the environment"],
  ["{f(1)}", "calls what nobody knows"],
  ['{print "open', "does not end"],
  ["@load", "is gawk's own"],
])("%s is not harmless: it %s", (text) => expect(isHarmlessAwk(text)).toBe(false));

test("the files behind a harmless program are read; with anything unknown every word concerns", () => {
  expect(judgeAwk("awk", ["-F", ",", "{print $1}", "a.csv"])).toEqual({
    concerns: [],
    files: [{ index: 3, path: "a.csv", use: "content" }],
  });
  for (const args of [
    ["-f", "prog.awk", "x"],
    ["{print}", "v=1"],
    ["{print}", "-x"],
  ])
    expect(judgeAwk("awk", args).concerns).toHaveLength(args.length);
});
