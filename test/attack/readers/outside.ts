/** What Lares fetches, opens or is asked to run: pages, feeds, folders of other programs, commands, settings. */

import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse as parseYaml } from "yaml";
import { looseJson, pathsInWord } from "../../../src/core/kit/index.ts";
import { diff } from "../../../src/core/protocol/diff.ts";
import { readHermes } from "../../../src/edges/imports/hermes.ts";
import { factsIn } from "../../../src/edges/imports/items.ts";
import { readOpenClaw } from "../../../src/edges/imports/openclaw.ts";
import { compact } from "../../../src/edges/tools/browser/compact.ts";
import { asCommand, elide, notes } from "../../../src/edges/tools/exec/display.ts";
import { analyse } from "../../../src/edges/tools/exec/shell/analyse.ts";
import { TerminalText } from "../../../src/edges/tools/exec/terminal-text.ts";
import { readPasted } from "../../../src/edges/tools/mcp/adding/paste.ts";
import { misfit } from "../../../src/edges/tools/mcp/call/arguments.ts";
import { readManifest } from "../../../src/edges/tools/mcp/listed/manifest.ts";
import { isListed } from "../../../src/edges/tools/mcp/listed/names.ts";
import { toContent } from "../../../src/edges/tools/web/content.ts";
import { parseEntries } from "../../../src/edges/watch/feed.ts";
import { readText as textOfMail } from "../../../src/edges/watch/imap.ts";
import { splitLines } from "../../../src/edges/watch/page.ts";
import { brief } from "../../../src/flow/approvals/brief.ts";
import { hostsBySchemeIn, mayTalk } from "../../../src/flow/gate/destinations-local.ts";
import { removedByCode, removesHome, removesUnseen } from "../../../src/flow/gate/floor-code.ts";
import { deviceWord } from "../../../src/flow/gate/floor-devices.ts";
import { destroysFound } from "../../../src/flow/gate/floor-found.ts";
import { secret as closedPath, piecesIn } from "../../../src/flow/gate/floor-places.ts";
import { matchesGlob } from "../../../src/flow/gate/glob.ts";
import { ownCommand, ownRequest } from "../../../src/flow/gate/own-commands.ts";
import { namesDoor } from "../../../src/flow/gate/own-doors.ts";
import { deniedBy, hostMatches, parseExecRule, pathRule } from "../../../src/flow/gate/rules.ts";
import { resolveReferences } from "../../../src/ground/config/references.ts";
import { createRedactor } from "../../../src/ground/observe/redact.ts";
import { scrub } from "../../../src/ground/vault/scrub.ts";
import { readManuscript, splitFront } from "../../../src/mind/skills/manuscript.ts";
import { searchSkills } from "../../../src/mind/skills/section.ts";
import { readDiff } from "../../../ui/src/lib/diff.ts";
import { readWhen } from "../../../ui/src/lib/when.ts";
import { pretend } from "../../support/pretend.ts";
import type { Rows } from "./reader.ts";

const redactor = createRedactor();
redactor.addSecret("a secret that nobody says");
const place = { home: "/h/.lares", userHome: "/h", agentDir: "/h/.lares/agents/a", workspace: "/h/.lares/agents/a/w" };
/** As rules have them, and as a model would love to have them written. */
const GLOBS = ["*", "**/a", "/a/**/*.ts", "*a*a*a*b", "**/a/**/a/**/b", "**a**a**b", "????*", `${"*a".repeat(30)}b`];

let folder: string | undefined;
/** A folder as other programs leave it, each file of it the text. */
function foreignFolder(text: string): string {
  folder ??= mkdtempSync(join(tmpdir(), "lares-pump-"));
  for (const dir of ["agents/main/sessions", "cron", "workspace", "memories"])
    mkdirSync(join(folder, dir), { recursive: true });
  for (const name of [
    ...["openclaw.json", "agents/main/sessions/sessions.json", "agents/main/sessions/a.jsonl", "cron/jobs.json"],
    ...["workspace/MEMORY.md", "memories/MEMORY.md", ".env"],
  ])
    writeFileSync(join(folder, name), text);
  return folder;
}
const asSkillsDo = (yaml: string) => parseYaml(yaml, { logLevel: "silent", prettyErrors: false }) as unknown;
const noDatabase = () => Promise.reject(new Error("There is no database here."));

export const OUTSIDE: Rows = {
  "the content of a page": (text) => toContent("text/html", Buffer.from(text)),
  "an untyped page": (text) => toContent(undefined, Buffer.from(text)),
  "a content type": (text) => toContent(text, Buffer.from("a")),
  "a page in the browser": (text) => compact(text),
  "a page in the browser, searched": (text) => compact(text, new Set(["a"]), { find: text.slice(0, 20) }),
  "a feed": (text) => parseEntries(`<rss>${text}`),
  "a watched page": (text) => splitLines(text, "text/html"),
  "a watched mail": textOfMail,
  "a watched mail with a boundary": (text) => textOfMail(`Content-Type: multipart/mixed; boundary=a\n\n${text}`),
  "a folder of OpenClaw": (text) => readOpenClaw(foreignFolder(text), noDatabase),
  "a folder of Hermes": (text) => readHermes(foreignFolder(text), noDatabase),
  "imported settings": looseJson,
  "imported facts": factsIn,
  "an MCP server in a paste": (text) =>
    readPasted(
      JSON.stringify({ mcpServers: { [text.slice(0, 100_000)]: { command: text, args: [text] }, b: { url: text } } }),
    ),
  "a list of an MCP server": (text) =>
    readManifest("s", [{ name: text, description: text, inputSchema: { type: text } }]),
  "a tool's name among patterns": (text) => isListed([text.slice(0, 128), "*a*b*c*"], text),
  "arguments for an MCP server": (text) =>
    misfit({ type: "object", properties: { a: { enum: [text] } } }, { a: text, [text]: 1 }),
  "a shell command": analyse,
  // Longer ones are not judged, so this is the longest that is read.
  "a shell command that is just short enough": (text) => analyse(text.slice(0, 32_768)),
  "a command to approve": (text) => {
    const { commands } = analyse(text);
    return [asCommand(elide(text, [text.slice(0, 9), "rm"])), notes(pretend({ ...analyse(text), commands }))];
  },
  "an approval in brief": (text) => brief(text, ["rm", "a", text.slice(0, 5)]),
  "a terminal's output": (text) => new TerminalText().add(text),
  "a word with paths": (text) => [pathsInWord(text), piecesIn(text)],
  "a path at the floor": (text) => closedPath(text, place),
  "our own commands in a word": (text) => [
    ownCommand([text, text], { ends: () => [], isProgram: true }),
    ownRequest([text]),
  ],
  "our own address in a word": (text) => namesDoor(["4747", text], { ports: [4747], hosts: ["workhorse"] }),
  "a disk in a word": (text) => [
    deviceWord("tee", ["tee", text], (word) => [word]),
    deviceWord("node", ["node", text], () => []),
  ],
  "what find starts": (text) => destroysFound(["sh", "-c", text, text], { appended: true }),
  "code that removes": (text) => [removedByCode(text), removesHome(text), removesUnseen(text)],
  "a local program's word": (text) =>
    ["make", "sqlite3", "node", "uv"].map((name) => mayTalk(name, ["run", text, text])),
  "an address without slashes": hostsBySchemeIn,
  "a rule for commands": parseExecRule,
  "a word under a rule": (text) => GLOBS.map((glob) => matchesGlob(glob, text)),
  // A rule is the owner's, and short: the time is that of the word, times the rule's length at worst.
  "a rule against a word like it": (text) =>
    [text.slice(0, 500), `*${text.slice(0, 16)}`].map((rule) => matchesGlob(rule, text)),
  "a command under rules": (text) =>
    deniedBy(
      GLOBS.map((glob) => `a ${glob}`),
      ["a", text],
      undefined,
    ),
  "a path under rules": (text) =>
    pathRule(
      GLOBS.map((glob) => `/x/${glob}`),
      `/x/${text}`,
      place,
    ),
  "a host under rules": (text) => hostMatches("*.example.org", text),
  "the redactor": (text) => redactor.redact(text),
  "a record without secrets": (text) => scrub({ a: [text] }, (value) => redactor.redact(value)),
  "references in settings": (text) => resolveReferences({ a: text }, { variables: {} }).missing.length,
  "a skill's front matter": (text) => splitFront(`---\n${text}`),
  "a skill": (text) => readManuscript(`---\n${text.slice(0, 3_900)}\n---\nbody`, "a", asSkillsDo),
  "a question for skills": (text) => searchSkills([{ name: "a", description: text, own: false }], text, 3),
  "a difference": (text) => diff(text, `${text}\nb`),
  "a difference on the page": readDiff,
  "a time on the page": readWhen,
};
