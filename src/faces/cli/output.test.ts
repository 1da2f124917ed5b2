import { expect, test } from "vitest";
import { pretend } from "../../../test/support/pretend.ts";
import { makeOutput } from "./output.ts";

function printed(isTTY: boolean) {
  const wrote: string[] = [];
  const stream = { isTTY, write: (text: string) => (wrote.push(text), true) };
  const env = { home: "/h", noColor: false };
  const ports = pretend<Parameters<typeof makeOutput>[0]>({ stdout: stream, stderr: stream, env });
  return { out: makeOutput(ports, { json: false, quiet: false }), wrote };
}

test("what others wrote cannot steer the terminal; our colours and line breaks pass (CLI-7)", () => {
  const { out, wrote } = printed(true);
  out.say(`${out.paint("ok", "ok")} \u001b]0;title\u0007 \u001b[2J \u001b[8mhidden\u009b1m a\rb`, "two\tlines\nhere");
  out.note("\u001b[?1049h");
  out.error(new Error("\u001bc"));
  expect(wrote[0]).toBe(
    "\u001b[32mok\u001b[0m \\x1b]0;title\\x07 \\x1b[2J \\x1b[8mhidden\\x9b1m a\\x0db\ntwo\tlines\nhere\n",
  );
  expect(wrote[1]).toBe("\\x1b[?1049h\n");
  expect(wrote[2]).not.toContain("\u001b");
});

test("data that is asked for as it is stays as it is (CLI-7)", () => {
  const { out, wrote } = printed(false);
  out.raw("\u001b[2J");
  expect(wrote).toEqual(["\u001b[2J"]);
});
