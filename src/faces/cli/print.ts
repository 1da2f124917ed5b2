/** docs/CLI.md from the table of words. `npx vitest run src/faces/cli/print.test.ts -u` writes it anew. */
import { EXIT } from "./exit.ts";
import { EVERYWHERE, type Flag, GROUPS, type Word } from "./words/index.ts";

const MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  done: "done",
  failed: "failed, or something is wrong",
  usage: "wrong usage; nothing was done",
  unreachable: "no Lares can be reached",
  notAllowed: "not allowed: the token is missing, wrong, or has not the right",
  notFound: "not found",
  waiting: "it waits for a person",
  declined: "declined",
  interrupted: "interrupted",
};

export function printCli(): string {
  const exits = (Object.keys(EXIT) as (keyof typeof EXIT)[]).map((name) => `| ${EXIT[name]} | ${MEANINGS[name]} |`);
  return [
    HEAD,
    "## Exit codes\n",
    "| code | means |\n|---|---|",
    ...exits,
    "\nWhat a command may end with in a way of its own is said at the command.\n",
    "## Everywhere\n",
    ...EVERYWHERE.map(flagLine),
    "",
    ...GROUPS.flatMap((group) => [`## ${group.name}\n`, ...group.words.map(printWord)]),
  ].join("\n");
}

function printWord({ name, takes, about, flags = [], example, exits }: Word): string {
  return [
    `### \`lares ${[name, takes].filter(Boolean).join(" ")}\`\n`,
    `${about.charAt(0).toUpperCase()}${about.slice(1)}.\n`,
    ...(flags.length ? [...flags.map(flagLine), ""] : []),
    `\`\`\`sh\n${example}\n\`\`\``,
    ...(exits ? [`\nExit codes: ${exits}.`] : []),
    "",
  ].join("\n");
}

function flagLine({ flag, about, choices, needed }: Flag): string {
  const values = choices ? `: ${choices.join(", ")}` : "";
  return `- \`${flag}\` ${about}${values}${needed ? " (needed)" : ""}`;
}

const HEAD = `# Command line

Printed from the table of words (\`src/faces/cli/words\`); a test fails when this page is stale.

\`lares <noun> <verb>\`. The first line of an answer is a sentence; details are below it. Data goes to stdout, all else to stderr.
With \`--json\` stdout carries one JSON document, or JSON Lines for lists and streams, and a failure is one line
\`{"error": {code, message, hint, retry}}\` on stderr. Nothing asks without a terminal. \`lares\` alone starts Lares, or says how it
is. An id may be shortened to its last signs.
`;
