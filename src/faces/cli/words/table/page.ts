/** docs/CLI.md from the table of commands. `npx vitest run src/faces/cli/words/table/page.test.ts -u` regenerates it. */
import { EXIT } from "../../exit.ts";
import { type CommandEntry, EVERYWHERE, type Flag, GROUPS } from "./index.ts";

const MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  done: "done",
  failed: "failed, or found a problem",
  usage: "wrong usage; nothing was done",
  unreachable: "Lares can't be reached",
  notAllowed: "not allowed: the token is missing, wrong, or lacks the right",
  notFound: "not found",
  waiting: "waiting for a person",
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
    "\nExit codes specific to a command are listed with it.\n",
    "## Everywhere\n",
    ...EVERYWHERE.map(flagLine),
    "",
    ...GROUPS.flatMap((group) => [`## ${group.name}\n`, ...group.commands.map(printCommand)]),
  ].join("\n");
}

function printCommand({ name, takes, about, flags = [], example, exits }: CommandEntry): string {
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
  return `- \`${flag}\` ${about}${values}${needed ? " (required)" : ""}`;
}

const HEAD = `# Command line

Generated from the command table (\`src/faces/cli/words/table\`); a test fails when this page is stale.

\`lares <noun> <verb>\`. The first line of an answer is a sentence; details are below it. Data goes to stdout, everything else to stderr.
With \`--json\` stdout carries one JSON document, or JSON Lines for lists and streams, and a failure is one line
\`{"error": {code, message, hint, retry}}\` on stderr. Nothing asks without a terminal. \`lares\` alone starts Lares, or shows how it
is. You can shorten an id to its last characters.
`;
