import { expect, test } from "vitest";
import { judgeFetching } from "./fetching.ts";

const asks = (command: string) => {
  const [name = "", ...args] = command.split(" ");
  return judgeFetching(name, args).length > 0;
};

test("a value belongs to the first letter that takes one", () => {
  expect(asks("curl -s4o.x http://h/x")).toBe(true);
  expect(asks("curl -s4H .x http://h/x")).toBe(false);
  expect(asks("curl -so x.txt http://h/x")).toBe(false);
  expect(asks("wget -qO.x http://h/x")).toBe(true);
  expect(asks("wget -qOmirror.html http://h/x")).toBe(false);
});

test("a name that nobody has seen asks", () => {
  for (const command of [
    "curl -O http://h/{a,b}",
    "curl -o #1 http://h/[a-c]",
    "wget http://h/%2ex",
    "wget -r http://h",
  ])
    expect(asks(command), command).toBe(true);
  for (const command of ["curl http://h/{a,b}", "curl -o x http://[::1]/", "wget http://h/x.txt"])
    expect(asks(command), command).toBe(false);
});
