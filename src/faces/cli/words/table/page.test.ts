/** The table of commands, the help page and docs/CLI.md say the same. */
import { expect, it } from "vitest";
import { HELP } from "../help.ts";
import { COMMANDS, GROUPS } from "./index.ts";
import { printCli } from "./page.ts";

/** Only for tests of Lares, so it is not on the first page. */
const HIDDEN = ["debug"];
/** Commands for which the page has no line of their own. */
const also = /^Also +([a-z0-9,\s]+)$/m.exec(HELP)?.[1]?.trim().split(/,\s+/) ?? [];
const shown = [...HELP.matchAll(/^(?:[A-Z][a-z ]*?)? +lares (\S+)(?: (\S+))?/gm)].map(([, first, second]) => [
  first!,
  second,
]);

it("docs/CLI.md is what the table prints (write it anew with -u)", async () => {
  await expect(printCli()).toMatchFileSnapshot("../../../../../docs/CLI.md");
});

it("the first page has every word but those for tests, in at most 24 lines and five groups", () => {
  const nouns = [...new Set(COMMANDS.map(({ name }) => name.split(" ")[0]!))];
  const named = [...shown.map(([first]) => first), ...also].sort();
  expect(named).toEqual(nouns.filter((noun) => !HIDDEN.includes(noun)).sort());
  expect(shown.length).toBeLessThanOrEqual(24);
  expect(GROUPS.length).toBe(5);
  for (const { name } of GROUPS) expect(HELP).toContain(`\n${name} `);
});

it("every example on the first page is a command", () => {
  for (const [first, second] of shown) {
    const isVerb = COMMANDS.some(({ name }) => name === `${first} ${second}`);
    expect(isVerb || COMMANDS.some(({ name }) => name === first), `lares ${first} ${second}`).toBe(true);
  }
});

it.each(COMMANDS.map((command) => [command.name, command] as const))(
  "%s has an action and an example that names it",
  async (name, word) => {
    expect(word.example).toMatch(new RegExp(`^lares ${name}( |$)`));
    expect(typeof (await word.load())).toBe("function");
    const flags = [...word.example.replace(/"[^"]*"/g, "").matchAll(/ (--?[a-z][a-z-]*)/g)].map(([, flag]) => flag!);
    const known = [...(word.flags ?? []).map(({ flag }) => flag), "-y, --yes"].join(" ");
    for (const flag of flags) expect(known.split(/[ ,]+/), word.example).toContain(flag);
  },
);
