import { expect, test } from "vitest";
import { createRead } from "./files/read.ts";
import { createTools } from "./registry.ts";

test("the built-in tool specs together cost less than 1,000 tokens", () => {
  expect(JSON.stringify(createTools().specs()).length).toBeLessThan(4000);
});

test("the specs are the same bytes each time, in a fixed order", () => {
  expect(JSON.stringify(createTools().specs())).toBe(JSON.stringify(createTools().specs()));
  expect(
    createTools()
      .specs()
      .map((spec) => spec.name),
  ).toEqual(["read", "write", "edit", "apply_patch", "list", "search", "exec"]);
});

test("a later tool comes last and a taken name is refused", () => {
  const tools = createTools();
  const read = createRead();
  tools.register({ ...read, spec: { ...read.spec, name: "another" } });
  expect(tools.specs().at(-1)?.name).toBe("another");
  expect(() => tools.register(read)).toThrow(/registered already/);
});

test("an unknown tool is refused with the nearest name", () => {
  expect(() => createTools().get("reed")).toThrow(/There is no tool "reed" here\. Use read, which takes path/);
});

test("reading may be repeated, a whole write may, an edit is probed, a command never", () => {
  const tools = createTools();
  const repeat = Object.fromEntries(tools.specs().map(({ name }) => [name, tools.get(name).repeat]));
  expect(repeat).toEqual({
    read: "safe",
    list: "safe",
    search: "safe",
    write: "safe",
    edit: "never",
    apply_patch: "never",
    exec: "never",
  });
  expect(tools.get("edit").probe).toBeTypeOf("function");
  expect(tools.get("apply_patch").probe).toBeTypeOf("function");
});
