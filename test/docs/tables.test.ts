/** Tables in the docs that say what is in the code: each names everything there is, once, and nothing else. */
import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { schema } from "../../src/app/config.ts";
import { CRASH_POINTS } from "../../src/core/kit/crash.ts";
import { ADAPTERS } from "../../src/edges/channels/index.ts";
import { explain } from "../../src/ground/config/index.ts";
import { ROOT, repositoryText } from "../support/repository.ts";

const ARCHITECTURE = repositoryText("docs/ARCHITECTURE.md");
const CHANNELS = repositoryText("docs/CHANNELS.md");

test("the table of rooms has every room", () => {
  const named = rows(section(ARCHITECTURE, "The rooms and their rule")).flatMap(([room = ""]) => quoted(room));
  expect(sorted(named)).toEqual(sorted([...rooms(), "app"]));
});

test("the table of crash points has every point, once", () => {
  const named = rows(section(ARCHITECTURE, "What happens on a crash at each step")).flatMap(([point = ""]) =>
    quoted(point).filter((text) => /^\w+\.\w+$/.test(text)),
  );
  expect(sorted(named)).toEqual(sorted(Object.keys(CRASH_POINTS)));
});

describe("docs/CHANNELS.md", () => {
  const titles = Object.values(ADAPTERS).map(({ title }) => title);
  /** "Signal (signal-cli)" and "A program of yours, in any language" are told by what comes first. */
  const short = (name: string) => titles.find((title) => title === name) ?? name.replace(/ \(.*\)$|, .*$/, "");

  test("the table of promises has every channel, once", () => {
    const named = rows(section(CHANNELS, "What each platform promises, and what that means here")).map(([name = ""]) =>
      short(name),
    );
    expect(sorted(named)).toEqual(sorted(titles));
  });

  test("files that most adapters have are in the table of an adapter's folder, and a split adapter has the first ones", () => {
    const named = rows(section(CHANNELS, "What is where in an adapter's folder")).flatMap(([file = ""]) =>
      quoted(file),
    );
    const folders = Object.keys(ADAPTERS).map((name) => ({
      name,
      files: readdirSync(`${ROOT}src/edges/channels/${name}`).map((file) =>
        file === `${name}.ts` ? "<name>.ts" : file,
      ),
    }));
    const all = folders.flatMap(({ files }) => files);
    const common = new Set(all.filter((file) => all.filter((other) => other === file).length > 2));
    expect([...common].filter((file) => !named.includes(file))).toEqual([]);
    expect(named.filter((file) => !all.includes(file))).toEqual([]);
    const everywhere = ["config.ts", "<name>.ts", "state.ts", "events.ts", "send.ts"];
    // A small adapter may be its configuration and one more file, as the example is.
    const split = folders.filter(({ files }) => files.length > 2);
    const lacking = split.flatMap(({ name, files }) =>
      everywhere.filter((file) => !files.includes(file)).map((file) => `${name} has no ${file}`),
    );
    expect(lacking).toEqual([]);
  });

  test("every channel has a section", () => {
    const headings = [...section(CHANNELS, "Platform by platform").matchAll(/^### (.+)$/gm)].map(([, name]) => name!);
    expect(sorted(headings.map(short))).toEqual(sorted(titles));
  });
});

test("the limit that holds without any setting stands in docs/CONFIG.md", () => {
  expect(configPage()).toMatch(/`budgets\.perDay` \|[^|]*\|[^|]*Without this section: 20 dollars/);
});

test("docs/CONFIG.md is what the schema says (-u writes it)", async () => {
  await expect(configPage()).toMatchFileSnapshot(`${ROOT}docs/CONFIG.md`);
});

function configPage(): string {
  const keys = explain(schema);
  expect(keys.filter(({ sentence }) => !sentence).map(({ key }) => key)).toEqual([]);
  const sections = new Map<string, string[]>();
  for (const { key, type, required, sentence, example, ...rest } of keys) {
    const notes = [
      ...(required ? ["must be set"] : []),
      ...("default" in rest && isShort(rest.default) ? [`default \`${JSON.stringify(rest.default)}\``] : []),
      ...(example === undefined ? [] : [`for example \`${JSON.stringify(example)}\``]),
    ];
    const name = key.split(/[.[]/)[0]!;
    const line = `| \`${key}\` | ${cell(type)} | ${cell([sentence, ...notes.map((note) => `_${note}_`)].join(" · "))} |`;
    sections.set(name, [...(sections.get(name) ?? []), line]);
  }
  const head = `# Settings

Every key of \`lares.yaml\`, printed from the schema; \`lares config explain\` prints the same for your version. \`<name>\` stands for a
name of your own, \`[]\` for each entry of a list. Unknown keys are refused.
`;
  return [
    head,
    ...[...sections].map(
      ([name, lines]) => `## ${name}\n\n| key | takes | what it does |\n|---|---|---|\n${lines.join("\n")}\n`,
    ),
  ].join("\n");
}

/** A whole section as its own default would only repeat the keys below it. */
const isShort = (value: unknown) => typeof value !== "object" || JSON.stringify(value).length < 40;
const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll("\n", " ");

/** `flow/outbox`: the folders of each floor but `app`, which has no rooms. */
function rooms(): string[] {
  const folders = (path: string) =>
    readdirSync(`${ROOT}${path}`, { withFileTypes: true })
      .filter((one) => one.isDirectory())
      .map(({ name }) => name);
  return folders("src")
    .filter((floor) => floor !== "app")
    .flatMap((floor) => folders(`src/${floor}`).map((room) => `${floor}/${room}`));
}

function section(page: string, heading: string): string {
  const found = page.split(/^(?=## )/m).find((part) => part.startsWith(`## ${heading}\n`));
  if (!found) throw new Error(`There is no section "${heading}".`);
  return found;
}

/** The cells of each row below a table's head. */
function rows(text: string): string[][] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((one) => one.trim()),
    )
    .filter((_, i, all) => i > 0 && !/^-+$/.test(all[i]![0]!));
}

const quoted = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, one]) => one!);
const sorted = (all: readonly string[]) => [...all].sort();
