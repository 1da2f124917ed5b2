import { expect, test } from "vitest";
import { createTools } from "./registry.ts";
import { unknownTool } from "./unknown.ts";

const offered = createTools().specs();
const toolRun = { name: "tool_run", description: "", input: {} };
const browser = {
  name: "browser",
  description: "",
  input: { properties: { action: {}, url: {} }, required: ["action"] },
};
const known = { offered: [...offered, toolRun], found: [browser] };

test.each([
  ["bash", "exec"],
  ["Bash", "exec"],
  ["run_shell_command", "exec"],
  ["grep", "search"],
  ["glob", "search"],
  ["cat", "read"],
  ["ls", "list"],
  ["str_replace_editor", "edit"],
  ["apply_diff", "apply_patch"],
  ["reed", "read"],
])("a call of %s is answered with %s and its fields", (name, meant) => {
  expect(unknownTool(name, known)).toMatch(
    new RegExp(`^There is no tool "${name}" here\\. Use ${meant}, which takes \\w+`),
  );
});

test("one that is only found by search says how it is run", () => {
  expect(unknownTool("browser", known)).toBe(
    'There is no tool "browser" here; browser is run through tool_run: tool_run {"name":"browser","input":{…}}, where the input has action, url (optional).',
  );
  expect(unknownTool("browse", known)).toContain('tool_run {"name":"browser"');
});

test("what is like nothing gets the list; a tool that may not be used is not named", () => {
  expect(unknownTool("xyzzy_frobnicate", known)).toBe(
    'There is no tool "xyzzy_frobnicate" here. Tools: read, write, edit, apply_patch, list, search, exec, tool_run.',
  );
  const only = { offered: offered.filter(({ name }) => name === "list"), found: [] };
  expect(unknownTool("bash", only)).toBe('There is no tool "bash" here. Tools: list.');
  expect(createTools().unknown("cat", ["list"])).not.toContain("read");
});

test("a name of a megabyte, with control characters, is cut and made visible", () => {
  const said = unknownTool(`\u001b[2J${"x".repeat(1_000_000)}`, known);
  expect(said.length).toBeLessThan(400);
  expect(said).not.toContain("\u001b");
});
