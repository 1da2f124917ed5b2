/**
 * Who may import whom, as data (STYLE.md), with a checker that names each offending import. If the table is in your way,
 * change the table and say why; do not hide the import behind a lazy load: those are read too.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { countCode, FILES, FOLDERS, MOST_LINES, misplacedMethods } from "./architecture/app.ts";
import { sentencesOutsideCatalogue } from "./architecture/chat-words.ts";
import { parseComponent } from "./architecture/component.ts";
import { FORCED, forcedTypes } from "./architecture/forced-types.ts";
import {
  composedAtColons,
  composedNames,
  keyPieces,
  LOOKALIKES,
  OTHER_COLONS,
  OTHER_NAMES,
} from "./architecture/keys.ts";
import { LONGER, longFunctions, MOST_FUNCTION_LINES } from "./architecture/lengths.ts";
import {
  exportedTypes,
  MOST_SHADOWED,
  nounFunctions,
  SAME_IDEA,
  shadowedNames,
  sharedNames,
} from "./architecture/names.ts";
import { nestedTernaries, ternariesIn } from "./architecture/nested-ternaries.ts";
import { literalSpreads, needlessSpreads, WITHOUT_KIT } from "./architecture/optional-fields.ts";
import { unportable } from "./architecture/portable.ts";
import { isSql, sqlTextsIn } from "./architecture/sql.ts";
import { FOR_SOME, openEndedSwitches } from "./architecture/switches.ts";
import { type Ast, parse, visit } from "./architecture/syntax.ts";
import { foreignReaders, foreignWrites, OWNERS, READERS, tablesIn, touchesIn } from "./architecture/tables.ts";
import { exportedNames, FOR_DOCS, unusedExports } from "./architecture/unused-exports.ts";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");

/**
 * The rooms by floor, each with the places it may import besides itself. A place is a floor (`core`), a room
 * (`ground/records`) or a room inside a room (`ground/engine/embedded`). `*` stands for every room of the floor that has no
 * line of its own.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  "core/domain": [],
  "core/kit": ["core/domain"],
  // The way to files that are not ours: every floor needs it.
  "core/files": ["core/domain", "core/kit"],
  "core/contracts": ["core/domain"],
  "core/protocol": ["core/domain"],
  // One answer in the words of each platform: pure, used by the outbox and by the channels, who may not import each other.
  "core/render": ["core/domain"],
  "ground/*": ["core"],
  // They share the file and the transaction.
  "ground/engine/embedded": ["core", "ground/records"],
  "ground/observe": ["core", "ground/records"],
  // A backup is of the records' file, page by page.
  "ground/backup": ["core", "ground/records"],
  // Never the ground, never each other.
  "edges/*": ["core"],
  // Rooms of the flow and the mind never import each other: ports, joined in app/.
  "flow/*": ["core", "ground/records"],
  "mind/*": ["core", "ground/records"],
  "faces/*": ["core", "ground/config"],
  app: ["core", "ground", "edges", "flow", "mind", "faces"],
  "main.ts": ["core", "ground", "edges", "flow", "mind", "faces", "app"],
};

/** Rooms with a second door beside index.ts. The protocol's client is for faces that must not load its schemas. */
const DOORS: readonly string[] = ["core/protocol/client.ts"];

/** Things only some places may do. A place ending in `.ts` is a file name that may do it wherever it stands. */
const MAY_DO = {
  "reads process.env": ["ground/config"],
  "has SQL": ["ground", "store.ts"],
  "calls fetch": ["edges", "core/protocol", "faces/cli"],
} as const;
type Deed = keyof typeof MAY_DO;

/**
 * Who may open, list, make or change files with Node's own functions, and why. Everybody else goes through core/files: a file that
 * somebody else may have put there can be a pipe, a link out of the folder, a device, or grow without end. A line here says that the
 * file deals only with files of ours, or which other guard it has. Looking without opening (lstat, realpath, access) is free.
 */
const OPENS_FILES: Readonly<Record<string, string>> = {
  "core/files/atomic.ts": "the path type itself",
  "core/files/below.ts": "the path type itself",
  "core/files/dir.ts": "the path type itself",
  "core/files/inside.ts": "the path type itself",
  "core/files/links.ts": "the path type itself",
  "core/files/locate.ts": "the path type itself",
  "core/kit/whole-file.ts": "replaces files of ours: settings, keys, checkpoints",
  "main.ts": "reads our own package.json",
  "ground/config/address.ts": "the file with the gateway's address in it",
  "ground/config/descriptors.ts": "reads /proc, closes what was inherited",
  "core/kit/boot.ts": "reads /proc",
  "edges/channels/library.ts": "makes the folder that optional packages are installed into",
  "edges/plugins/install/folders.ts":
    "the folder of plugins in the home, of which a sandbox shows each plugin its own part",
  "edges/tools/event-hooks/command.ts": "makes the folder that command hooks have as their home, with what each reads",
  "edges/tools/mcp/connect/bounds.ts": "sizes of files only, in a plugin's data folder",
  "edges/tools/mcp/connect/host-proxy.ts": "makes and removes the folder of a socket of ours in the home",
  "edges/tools/mcp/connect/launch.ts": "makes the folder that a server has as its home",
  "edges/channels/setup/setup.ts": "removes a channel's folder of ours",
  "edges/channels/signal/listener.ts": "the folder of a Signal account, which only this listener and the gateway use",
  "edges/channels/signal/mailbox.ts": "the same folder, on the gateway's side",
  "edges/runtimes/folders.ts": "makes and removes the folders of runs in the home",
  "edges/runtimes/install/tools.ts": "the folder of installed runtimes in the home, which npm fills",
  "edges/runtimes/codex/home.ts": "makes and clears the folder that Codex has as its home",
  "edges/runtimes/openclaw/device.ts": "the key in the home by which OpenClaw's gateway knows this Lares",
  "edges/runtimes/openclaw/place.ts": "OpenClaw's own settings, for where its gateway is: plain files only, bounded",
  "edges/tools/browser/launch.ts": "the browser's profile in the home, which no sandbox shows",
  "edges/tools/exec/capture.ts": "writes to a descriptor that the path type opened",
  "edges/tools/exec/exec.ts": "the folder of a command's supervisor, in the home, which no sandbox shows",
  "edges/tools/exec/output.ts": "the same folder",
  "edges/tools/exec/pty.ts": "the same folder",
  "edges/tools/exec/recover.ts": "the same folder",
  "edges/tools/exec/runs.ts": "the same folder",
  "edges/tools/exec/prepare.ts":
    "hashes the script that will run, wherever it is: without waiting, plain files only, bounded",
  "edges/tools/exec/looks.ts":
    "reads names and where links lead, wherever a command's words point; never a file's content, and nothing waits",
  "edges/tools/exec/shell/settle/pattern.ts": "names of files only, for patterns of a command",
  "edges/tools/exec/guard.ts": "reads /proc",
  "edges/tools/exec/processes.ts": "reads /proc",
  "edges/tools/exec/run.ts": "the same folder",
  "edges/tools/process/kept.ts": "the same folder",
  "edges/tools/process/identity.ts": "reads /proc",
  "edges/tools/process/output.ts": "the supervisor's folder in the home, which no sandbox shows",
  "edges/tools/process/processes.ts": "the supervisor's folder in the home, which no sandbox shows",
  "edges/tools/process/supervisor.ts": "the supervisor's folder in the home, which no sandbox shows",
  "edges/tools/sandbox/bubblewrap.ts": "reads where system links such as /bin point",
  "edges/tools/sandbox/private.ts": "names in the user's home that the sandbox hides; opens none",
  "edges/worktrees/worktrees.ts": "makes the folder of worktrees in the home, and removes files of ours beside them",
  "faces/cli/chat/history.ts": "the chat's history in the home",
  "faces/cli/commands/channels.ts": "a file that the person at the terminal names, in their own process",
  "faces/cli/advice.ts": "the folders of the agents, in the process of the person at the terminal",
  "faces/cli/connection.ts": "the token in the home, in the process of the person at the terminal",
  "faces/cli/doctor/home.ts": "looks at the home, in the process of the person at the terminal",
  "faces/cli/onboard/write.ts": "closes the settings file to others",
  "faces/cli/read-all.ts": "a file or pipe that the person at the terminal names, in their own process",
  "faces/cli/write-output.ts": "the file, link or pipe that -o names, in the process of the person at the terminal",
  "faces/gateway/static/files.ts": "the page as it was built",
  "flow/attachments/files.ts": "makes and removes files under ids of ours in the home; reads go through the path type",
  "flow/checkpoints/blobs.ts": "contents by their hash in the home, which no sandbox shows",
  "ground/backup/archive.ts": "the folder of backups, in which every piece is checked against its name",
  "ground/backup/backups.ts": "makes and removes a temporary home of ours, to try a backup",
  "ground/backup/home-files.ts": "reads links of an open directory of the path type",
  "ground/backup/pages.ts": "the database in the home and its log",
  "ground/backup/place.ts": "moves what is at the top of the home, whatever it is, without opening it",
  "ground/backup/prune.ts": "the folder of backups",
  "ground/backup/timer.ts": "names in the folder of backups; opens none",
  "ground/backup/unpack.ts": "writes into an empty folder that it has just made, links last",
  "ground/config/home.ts": "makes the home, and looks whether it can be used",
  "ground/config/load.ts": "the settings file in the home",
  "ground/config/owner-zone.ts": "reads where the link /etc/localtime leads",
  "ground/config/token.ts": "the owner's token in the home",
  "ground/watchdog/ledger.ts": "what is running, in a file of ours in the home",
  "ground/watchdog/strikes.ts": "what is held against work, in a file of ours in the home",
  "ground/observe/log-file.ts": "the log in the home",
  "ground/observe/log-reader.ts": "the log in the home, in the process of the person at the terminal",
  "ground/observe/sink.ts": "writes the log to a descriptor",
  "ground/records/index.ts": "the database in the home",
  "ground/records/lock.ts": "the lock in the home",
  "ground/records/room.ts": "a file of ours that is removed at once, to see whether there is room",
  "ground/records/read-copy.ts": "makes and removes a temporary folder of ours for a copied database",
  "ground/records/open.ts": "the database in the home",
  "ground/records/wal.ts": "the log beside the database in the home, to sync it",
  "ground/vault/files.ts": "the vault in the home",
  "ground/vault/key.ts": "the vault's key in the home",
  "mind/agents/folder.ts": "makes what is missing in an agent's folder (never over something), and lists agents",
  "mind/memory/documents/documents.ts": "is notified about changes; reads through the path type",
  "mind/memory/view/view.ts": "is notified about changes; reads through the path type",
};
/** Says what is there without opening it, or only names a type or a flag. */
const LOOKS =
  /^(constants|existsSync|l?stat(Sync)?|statfs|realpath(Sync)?|access(Sync)?|Stats|FileHandle|FSWatcher|Dirent)$/;

/** Left from before they were counted. Lower it when you remove some. */
const MOST_NESTED_TERNARIES = 0;

describe("the house", () => {
  const files = sourceFiles();

  test("the sources are found", () => {
    expect(files.length).toBeGreaterThan(15);
    expect(files.map((f) => f.path)).toContain("core/domain/index.ts");
  });

  test("every import is in the table, and nobody does what only others may", () => {
    expect(files.flatMap(({ path, text }) => violations(path, text))).toEqual([]);
  });

  test("every room has an index.ts, which is all that others import of it", () => {
    const rooms = new Set(
      files.map(({ path }) => path.split("/").slice(0, 2).join("/")).filter((room) => !/^(app|main)/.test(room)),
    );
    expect([...rooms].filter((room) => !files.some(({ path }) => path === `${room}/index.ts`))).toEqual([]);
  });

  test("only the files in the list open files with Node's own functions, and each of them still does", () => {
    const opening = files.filter(({ path }) => !/(^|\/)testing\.ts$/.test(path)).filter(({ text }) => opens(text));
    const listed = Object.keys(OPENS_FILES);
    const unlisted = opening.filter(({ path }) => !listed.includes(path));
    expect(unlisted.map(({ path, text }) => `src/${path} opens files (${opens(text)}); use core/files`)).toEqual([]);
    expect(listed.filter((path) => !opening.some((file) => file.path === path))).toEqual([]);
  });

  describe("app/", () => {
    const app = files.filter(({ path }) => path.startsWith("app/"));

    test("holds the program, the builders and the methods' handlers, and nothing else", () => {
      expect(app.map(({ path }) => path).filter((path) => !FILES.includes(path) && !FOLDERS.test(path))).toEqual([]);
    });

    test("a method's handler is in the file of its noun", () => {
      expect(app.flatMap(({ path, text }) => misplacedMethods(path, text))).toEqual([]);
    });

    test("does not grow", () => {
      expect(app.reduce((sum, { text }) => sum + countCode(text), 0)).toBeLessThanOrEqual(MOST_LINES);
    });
  });

  describe("composed keys", () => {
    const page = listFiles(join(ROOT, "ui/src")).filter((file) => /\.(ts|svelte)$/.test(file));
    const all = [
      ...files.map(({ path, text }) => ({ path: `src/${path}`, text })),
      ...page.map((file) => ({ path: slashes(relative(ROOT, file)), text: readFileSync(file, "utf8") })),
    ].map(({ path, text }) => ({ path, text, tree: path.endsWith(".svelte") ? parseComponent(text) : parse(text) }));

    test.each([
      ["the words of known keys stand in core/domain only, in the program and in the page", keyPieces, LOOKALIKES],
      [
        "nothing else is put together or taken apart at a colon, except what the list names",
        composedAtColons,
        OTHER_COLONS,
      ],
      ["no account's name and no other key is composed or taken apart outside core/domain", composedNames, OTHER_NAMES],
    ])("%s", (_what, find, listed) => {
      const found = all.map(({ path, text, tree }) => ({ path, sentences: find(path, text, tree) }));
      expect(found.flatMap(({ path, sentences }) => (path in listed ? [] : sentences))).toEqual([]);
      const needed = found.filter(({ sentences }) => sentences.length > 0).map(({ path }) => path);
      expect(Object.keys(listed).filter((path) => !needed.includes(path))).toEqual([]);
    });
  });

  test("optional fields are given with defined() or truthy(), not with a conditional spread each", () => {
    const found = files
      .filter(({ path }) => !WITHOUT_KIT.test(path))
      .flatMap(({ path, text }) => needlessSpreads(path, text));
    expect(found).toEqual([]);
  });

  test("no fields are spread from braces of their own", () => {
    expect(files.flatMap(({ path, text }) => literalSpreads(path, text))).toEqual([]);
    expect(literalSpreads("flow/turns/x.ts", "f({ ...{ a, b }, ...c, ...(d ? { e } : {}) });")).toHaveLength(1);
  });

  test("no value is forced into a type, except where the list says why", () => {
    const found = files
      .filter(({ path }) => !/(^|\/)testing\.ts$|\.test\.ts$/.test(path))
      .map(({ path, text }) => ({ path, lines: forcedTypes(text) }))
      .filter(({ lines }) => lines.length > 0);
    const unlisted = found.filter(({ path, lines }) => lines.length > (FORCED[path]?.times ?? 0));
    expect(unlisted.map(({ path, lines }) => `src/${path}:${lines.join(", ")}`)).toEqual([]);
    expect(Object.keys(FORCED).filter((path) => !found.some((one) => one.path === path))).toEqual([]);
  });

  test("a switch over a closed union ends with assertNever, except where the list says why", () => {
    const own = files.filter(({ path }) => !/\.test\.ts$/.test(path));
    const found = openEndedSwitches(join(ROOT, "src"), own);
    expect(found.flatMap(({ path, line }) => (path in FOR_SOME ? [] : [`src/${path}:${line}`]))).toEqual([]);
    expect(Object.keys(FOR_SOME).filter((path) => !found.some((one) => one.path === path))).toEqual([]);
  }, 60_000);

  test("what commands and channels say by themselves in a chat stands in their words.ts", () => {
    expect(files.flatMap(({ path, text }) => sentencesOutsideCatalogue(path, text))).toEqual([]);
  });

  test("everything exported is imported by somebody", () => {
    const all = ["src", "ui/src", "scripts", "examples", "test"]
      .flatMap((folder) => listFiles(join(ROOT, folder)))
      .filter((file) => /\.(ts|mjs|svelte)$/.test(file))
      .map((file) => ({ path: slashes(relative(ROOT, file)), text: readFileSync(file, "utf8") }));
    const isTest = (path: string) => /^test\/|\.test\.ts$|(^|\/)testing\.ts$/.test(path);
    const found = unusedExports(
      all.filter(({ path }) => !isTest(path)),
      all.filter(({ path }) => isTest(path)),
    );
    expect(found.filter((one) => !(one in FOR_DOCS))).toEqual([]);
    expect(Object.keys(FOR_DOCS).filter((one) => !found.includes(one))).toEqual([]);
  });

  test("nested ternaries do not become more", () => {
    const found = files.flatMap(({ path, text }) => nestedTernaries(path, text));
    expect(found.slice(MOST_NESTED_TERNARIES)).toEqual([]);
  });

  test("the command line and the page have no nested ternaries", () => {
    const cli = files.filter(({ path }) => path.startsWith("faces/cli/"));
    const page = listFiles(join(ROOT, "ui/src")).filter((file) => /\.(ts|svelte)$/.test(file));
    const found = [
      ...cli.flatMap(({ path, text }) => nestedTernaries(path, text)),
      ...page.flatMap((file) => {
        const text = readFileSync(file, "utf8");
        const tree = file.endsWith(".svelte") ? parseComponent(text) : parse(text);
        return ternariesIn(tree, slashes(relative(ROOT, file)), text);
      }),
    ];
    expect(page.length).toBeGreaterThan(50);
    expect(found).toEqual([]);
  });

  test("no function is longer than a screen or two, except those in the list, which don't grow", () => {
    const found = files
      .filter(({ path }) => !/(^|\/)testing\.ts$/.test(path))
      .flatMap(({ path, text }) => longFunctions(path, text));
    const grown = found.filter(({ of, lines }) => lines > (LONGER[of] ?? MOST_FUNCTION_LINES));
    expect(grown.map(({ of, line, lines }) => `src/${of} (line ${line}) has ${lines} lines`)).toEqual([]);
    expect(Object.keys(LONGER).filter((of) => !found.some((one) => one.of === of))).toEqual([]);
  });

  test("a name is exported as a type by one file, or is the same idea in all of them", () => {
    const shared = sharedNames(files);
    const unlisted = [...shared].filter(([name]) => !(name in SAME_IDEA));
    expect(unlisted.map(([name, paths]) => `${name}: ${paths.join(", ")}`)).toEqual([]);
    expect(Object.keys(SAME_IDEA).filter((name) => !shared.has(name))).toEqual([]);
  });

  test("types that a file keeps to itself and that are called like another file's exported one do not become more", () => {
    const found = shadowedNames(files).filter(({ name }) => !(name in SAME_IDEA));
    expect(found.slice(MOST_SHADOWED).map(({ name, path }) => `${name} in src/${path}`)).toEqual([]);
  });

  test("no function is named as a noun that ends in Of", () => {
    const page = listFiles(join(ROOT, "ui/src")).filter((file) => /\.(ts|svelte)$/.test(file));
    const found = [
      ...files.flatMap(({ path, text }) => nounFunctions(parse(text)).map((name) => `${name} in src/${path}`)),
      ...page.flatMap((file) => {
        const text = readFileSync(file, "utf8");
        const tree = file.endsWith(".svelte") ? parseComponent(text) : parse(text);
        return nounFunctions(tree).map((name) => `${name} in ${slashes(relative(ROOT, file))}`);
      }),
    ];
    expect(found).toEqual([]);
  });

  test("SQL is written for SQLite and PostgreSQL", () => {
    // The records themselves, and other programs' SQLite files.
    const isSqliteOnly = (path: string) => /^(ground\/records|edges\/imports)\//.test(path);
    const found = files
      .filter(({ path }) => mayDo(path, "has SQL") && !isSqliteOnly(path))
      .flatMap(({ path, text }) => unportable(path, text));
    expect(found).toEqual([]);
  });

  describe("tables", () => {
    const isMigration = (path: string) => path === "ground/records/migrations.ts";
    // They make the tables, and note how far they came.
    const makesTables = (path: string) => isMigration(path) || path === "ground/records/postgres/schema.ts";
    const touches = files
      .filter(({ path }) => mayDo(path, "has SQL") && !makesTables(path))
      .flatMap(({ path, text }) => touchesIn(path, roomOf(path), text));

    test("every table has an owner, and no owner has lost its table", () => {
      const made = tablesIn(files.find(({ path }) => isMigration(path))!.text);
      expect(Object.keys(OWNERS).sort()).toEqual(made);
    });

    test("only its owner writes a table", () => {
      expect(foreignWrites(touches)).toEqual([]);
    });

    test("only the rooms in the list read another's table with a statement of their own, and each of them still does", () => {
      const listed = Object.entries(READERS).flatMap(([table, rooms]) =>
        Object.keys(rooms).map((room) => `${table}: ${room}`),
      );
      expect(foreignReaders(touches)).toEqual(listed.sort());
    });
  });

  test.skipIf(!existsSync(join(ROOT, "ui", "src")))(
    "the web UI imports core/protocol and core/render and nothing else of ours",
    () => {
      const ui = listFiles(join(ROOT, "ui")).filter(
        (file) => /\.(ts|js|svelte)$/.test(file) && !/[\\/](node_modules|dist)[\\/]/.test(file),
      );
      const found = ui.flatMap((file) => uiViolations(slashes(relative(ROOT, file)), readFileSync(file, "utf8")));
      expect(found).toEqual([]);
    },
  );
});

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: these strings are source code
describe("the checker finds what it looks for", () => {
  const planted: [why: string, path: string, text: string, expected: string][] = [
    ["domain uses kit", "core/domain/x.ts", 'import { nearest } from "../kit/index.ts";', "may not import core/kit"],
    [
      "kit uses contracts",
      "core/kit/x.ts",
      'import type { Tx } from "../contracts/records.ts";',
      "may not import core/contracts",
    ],
    [
      "core uses ground",
      "core/contracts/x.ts",
      'export * from "../../ground/records/index.ts";',
      "may not import ground/records",
    ],
    ["config uses records", "ground/config/x.ts", 'import "../records/index.ts";', "may not import ground/records"],
    [
      "engines meet",
      "ground/engine/restate/x.ts",
      'import "../embedded/journal.ts";',
      "may not import ground/engine/embedded",
    ],
    [
      "engine/restate uses records",
      "ground/engine/restate/x.ts",
      'import "../../records/index.ts";',
      "may not import ground/records",
    ],
    [
      "an edge uses the ground",
      "edges/models/x.ts",
      'import { a } from "../../ground/config/index.ts";',
      "may not import ground/config",
    ],
    [
      "an edge uses an edge",
      "edges/models/x.ts",
      'import { a } from "../tools/index.ts";',
      "may not import edges/tools",
    ],
    [
      "flow rooms meet",
      "flow/turns/x.ts",
      'import type { A } from "../outbox/index.ts";',
      "may not import flow/outbox",
    ],
    [
      "flow uses mind",
      "flow/turns/x.ts",
      'import { a } from "../../mind/context/index.ts";',
      "may not import mind/context",
    ],
    [
      "flow uses the engine",
      "flow/inbox/x.ts",
      'import { a } from "../../ground/engine/embedded/index.ts";',
      "may not import ground/engine/embedded",
    ],
    ["mind rooms meet", "mind/memory/x.ts", 'import { a } from "../context/index.ts";', "may not import mind/context"],
    [
      "a face uses records",
      "faces/cli/x.ts",
      'import { a } from "../../ground/records/index.ts";',
      "may not import ground/records",
    ],
    ["faces meet", "faces/cli/x.ts", 'import { a } from "../gateway/index.ts";', "may not import faces/gateway"],
    ["a room uses app", "faces/gateway/x.ts", 'import { a } from "../../app/index.ts";', "may not import app"],
    ["a room uses main", "app/x.ts", 'import "../main.ts";', "may not import main.ts"],
    ["a lazy load", "flow/turns/x.ts", 'const a = await import("../gate/index.ts");', "may not import flow/gate"],
    [
      "a lazy load in a template",
      "flow/turns/x.ts",
      "const a = await import(`../gate/index.ts`);",
      "may not import flow/gate",
    ],
    [
      "a load by a name",
      "flow/turns/x.ts",
      'const n = "../gate/index.ts"; await import(n);',
      "may not import flow/gate",
    ],
    ["a load that cannot be read", "flow/turns/x.ts", "const a = await import(name);", "is not a literal"],
    ["a type of a lazy load", "flow/turns/x.ts", 'type A = import("../gate/index.ts").A;', "may not import flow/gate"],
    ["a re-export", "mind/skills/x.ts", 'export { a } from "../memory/index.ts";', "may not import mind/memory"],
    ["require", "mind/skills/x.ts", 'const a = require("../memory/index.ts");', "may not import mind/memory"],
    ["a worker", "mind/skills/x.ts", 'new URL("../memory/worker.ts", import.meta.url);', "may not import mind/memory"],
    [
      "a room's insides",
      "flow/inbox/x.ts",
      'import { a } from "../../core/domain/ids.ts";',
      "imports the insides of core/domain",
    ],
    [
      "insides from app",
      "app/x.ts",
      'import { a } from "../flow/turns/segment.ts";',
      "imports the insides of flow/turns",
    ],
    ["a floor that is not there", "attic/x.ts", "export {};", "is on no floor of the house"],
    ["a file beside the rooms", "flow/x.ts", "export {};", "is on no floor of the house"],
    ["an import out of src", "app/x.ts", 'import "../../test/fakes/model.ts";', "imports from outside src"],
    ["an import that is not parsed", "app/x.ts", "import { from 3;", "cannot be parsed"],
    ["process.env", "flow/turns/x.ts", "const a = process.env.HOME;", "reads process.env"],
    ["process['env']", "app/x.ts", 'const a = process["env"];', "reads process.env"],
    ["env taken apart", "app/x.ts", "const { env } = process;", "reads process.env"],
    ["env imported", "main.ts", 'import { env } from "node:process";', "reads process.env"],
    ["globalThis.process.env", "main.ts", "const a = globalThis.process.env.A;", "reads process.env"],
    ["SQL in a string", "flow/turns/x.ts", 'tx.run("UPDATE turn SET a = 1");', "has SQL"],
    ["SQL in a template", "faces/gateway/x.ts", "db.all(`\n  SELECT * FROM ${t}`);", "has SQL"],
    ["SQL that replaces", "flow/turns/x.ts", 'tx.run("REPLACE INTO turn VALUES (1)");', "has SQL"],
    ["SQL that inserts what is missing", "app/x.ts", 'tx.run("INSERT OR IGNORE INTO turn VALUES (1)");', "has SQL"],
    ["SQL in small letters", "flow/turns/x.ts", 'db.all("select id from turn where id = ?");', "has SQL"],
    ["an update in small letters", "flow/turns/x.ts", "tx.run(`update turn set a = ${n}`);", "has SQL"],
    ["a deletion in small letters", "flow/turns/x.ts", 'tx.run("delete from turn");', "has SQL"],
    ["an insertion in small letters", "app/x.ts", 'tx.run("insert into turn (id) values (?)");', "has SQL"],
    ["SQL in pieces", "flow/turns/x.ts", 'db.all("select id " + "from turn " + "where id = ?");', "has SQL"],
    ["fetch", "flow/turns/x.ts", 'await fetch("http://x");', "calls fetch"],
    ["globalThis.fetch", "faces/gateway/x.ts", 'await globalThis.fetch("http://x");', "calls fetch"],
  ];
  test.each(planted)("%s", (_why, path, text, expected) => {
    const found = violations(path, text);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(expected);
    expect(found[0]).toContain(`src/${path}`);
  });

  test.each([
    ["core/kit/x.ts", 'import type { Json } from "../domain/json.ts";'],
    ["ground/engine/embedded/x.ts", 'import { a } from "../../records/index.ts"; import "./y.ts";'],
    ["ground/engine/index.ts", 'export { a } from "./embedded/engine.ts";'],
    ["ground/observe/x.ts", 'import { a } from "../records/index.ts";'],
    ["ground/config/x.ts", "export const a = process.env;"],
    ["edges/channels/irc/x.ts", 'import { a } from "../shared/words.ts"; await fetch("http://x");'],
    ["flow/turns/store.ts", 'tx.run("SELECT 1"); import { a } from "../../ground/records/index.ts";'],
    ["flow/turns/x.ts", 'import "../../core/contracts/index.ts"; import "node:fs"; import "zod";'],
    [
      "flow/turns/x.ts",
      '// import "../gate/index.ts" and process.env, SELECT, fetch(\nconst a = `import "../gate/index.ts"`;',
    ],
    ["flow/turns/x.ts", "await port.fetch(1); const fetch = 3; server({ fetch: app.fetch });"],
    ["faces/cli/x.ts", 'import { a } from "../../ground/config/index.ts"; await fetch("http://x");'],
    ["faces/cli/x.ts", 'import { typedClient } from "../../core/protocol/client.ts";'],
    ["app/x.ts", 'const a = await import("../edges/channels/irc/index.ts");'],
    ["main.ts", 'import { start } from "./app/index.ts";'],
  ])("what is allowed passes: %s %s", (path, text) => {
    expect(violations(path, text)).toEqual([]);
  });

  test.each([
    "Select a file from the list.",
    "update the page, then set a name",
    "Delete from here on?",
    "insert into the text what is missing",
    "with a name as given",
    "Create table rows by hand.",
    "Select all from the menu where it says so",
  ])('"%s" is English', (text) => expect(isSql(text)).toBe(false));

  test.each([
    ['import { readFile } from "node:fs/promises";', "readFile"],
    ['import { readFile as read, stat } from "fs/promises";', "readFile"],
    ['import { openSync, constants } from "node:fs";', "openSync"],
    ['import { mkdirSync } from "fs";', "mkdirSync"],
    ['import { createReadStream, promises } from "node:fs";', "createReadStream, promises"],
    ['import fs from "node:fs";', "all of it"],
    ['import * as fs from "node:fs/promises";', "all of it"],
    ['const { open } = await import("node:fs/promises");', "all of it"],
    ['const fs = require("node:fs");', "all of it"],
    ['const fs = process.getBuiltinModule("node:fs");', "all of it"],
    ['export { readFile } from "node:fs/promises";', "all of it"],
  ])("opening a file is noticed: %s", (text, expected) => {
    expect(opens(text)).toBe(expected);
  });

  test("a long function is noticed in every form", () => {
    const body = `{\n${"f();\n".repeat(MOST_FUNCTION_LINES)}}`;
    const source = `function a() ${body}\nconst b = () => ${body};\nclass C { d() ${body} }\nconst e = { g() ${body} };`;
    expect(longFunctions("x.ts", source).map(({ of }) => of)).toEqual(["x.ts a", "x.ts b", "x.ts d", "x.ts g"]);
    expect(longFunctions("x.ts", "function a() {\n}\n".repeat(MOST_FUNCTION_LINES))).toEqual([]);
  });

  test("an exported type is noticed in every form, and two of one name are too", () => {
    const source = "export interface A {} export type B = 1; export class C {} interface D {} export const E = 1;";
    expect(exportedTypes(source)).toEqual(["A", "B", "C"]);
    const files = ["a.ts", "b.ts"].map((path) => ({ path, text: source }));
    expect(sharedNames(files).get("A")).toEqual(["a.ts", "b.ts"]);
    const other = { path: "c.ts", text: "interface A {} type Own = 1;" };
    expect(shadowedNames([...files.slice(0, 1), other])).toEqual([{ name: "A", path: "c.ts" }]);
  });

  test("exports are found with their kind, and those nobody imports are named", () => {
    expect(exportedNames('export const a = 1; export interface B {} export { c } from "./c.ts"; const d = 1;')).toEqual(
      [
        { name: "a", kind: "value" },
        { name: "B", kind: "type" },
        { name: "c", kind: "passed-on" },
      ],
    );
    const product = [
      {
        path: "src/a.ts",
        text: "export const a = 1; export const b = a; export type C = 1; export function d(c: C) {}",
      },
      { path: "src/b.ts", text: 'import { b as x } from "./a.ts"; const { d } = await import("./a.ts");' },
    ];
    const test = { path: "test/a.test.ts", text: 'import { a } from "../src/a.ts";' };
    expect(unusedExports(product, [test])).toEqual([]);
    expect(unusedExports(product, [])).toEqual(["src/a.ts: a"]);
    expect(unusedExports(product.slice(0, 1), [test])).toEqual(["src/a.ts: b", "src/a.ts: d"]);
  });

  test("functions and methods that end in Of are found, claims and calls of others are not", () => {
    const source =
      "export async function aOf() {} const bOf = (x) => x; class C { private dOf() {} } const isChildOf = () => 1; [].indexOf(1);";
    expect(nounFunctions(parse(source))).toEqual(["aOf", "bOf", "dOf"]);
  });

  test("looking without opening is free", () => {
    expect(
      opens('import { lstat, realpath, constants } from "node:fs/promises"; import type { open } from "fs";'),
    ).toBe("");
    expect(opens('import { type FileHandle, stat } from "node:fs/promises"; // readFile')).toBe("");
  });

  test.each([
    ["a session key", "const s = `agent:${agent}:main`;", "sessionKeys.main"],
    ["a session key in SQL", "db.all(`SELECT 1 FROM turn WHERE session LIKE 'cron:%'`);", "SESSION_PREFIX"],
    ["a session key in an expression", "/(?:^|:)cron:([^:]+):run:/.exec(session);", "jobBehindSession"],
    ["a beginning that is looked for", 'session.startsWith("sub:");', "isChildSession"],
    ["a lane", "lane.replace(/#command$/, '');", "withoutCommandLane"],
    ["an accept id", "const id = `msg:${channel}:${chat}`;", "acceptIds"],
    ["a message id", "const id = `${turn}:in`;", "messageIds"],
    ["a message id that is read", "/^(.+):(\\d+):reply$/.exec(id);", "readReplyId"],
    ["an answer id in SQL", "db.all(`SELECT 1 FROM delivery WHERE answer = turn || ':answer'`);", "ANSWER_SUFFIX"],
    ["a step's name", "ctx.step(`model:${n}`);", "stepNames"],
    ["a step's name that is read", "/^(model|tool):/.test(step);", "readStepName"],
    ["what wakes a turn", "resume(turn, { id: `interrupt:${by}` });", "resumeIds"],
    ["what a turn waits for", 'on.startsWith("wait:");', "isOwnWait"],
  ])("%s", (_why, text, instead) => {
    const found = keyPieces("src/flow/turns/x.ts", text, parse(text));
    expect(found).toEqual([expect.stringMatching(/^src\/flow\/turns\/x\.ts:1 has "/)]);
    expect(found[0]).toContain(instead);
    expect(keyPieces("src/core/domain/keys.ts", text, parse(text))).toEqual([]);
  });

  test.each([
    ["a template", "const s = `lot:${name}`;"],
    ["a template that begins with what is put in", "const s = `${name}:end`;"],
    ["a template that only separates", "const s = `${name}:${n}`;"],
    ["a concatenation", 'const s = "lot:" + name;'],
    ["a concatenation around a colon", 'const s = name + ":" + n;'],
    ["parts that are joined", 'const s = ["lot", name].join(":");'],
    ["SQL that concatenates", "db.all(`SELECT 'lot:' || id FROM lot`);"],
    ["parts that are split", 'const [, name] = key.split(":");'],
    ["a cut at the last colon", 'key.slice(key.lastIndexOf(":") + 1);'],
    ["a beginning that is looked for", 'key.startsWith("lot:");'],
    ["an end that is looked for", 'key.endsWith(":end");'],
    ["an expression that looks for a beginning", "/^(?:lot|row):(.+)$/.exec(key);"],
    ["an expression that looks for an end", "/:end$/.test(key);"],
    ["an expression that looks for the first colon", "/^([^:]+):/.exec(key);"],
    ["a separator in a constant", 'const SEP = ":"; f(`${name}${SEP}${n}`);'],
    ["a separator in a constant that joins", 'const SEP = ":"; f([name, n].join(SEP));'],
    ["parts that are put behind each other", 'const s = name.concat(":", n);'],
    ["a beginning that is replaced", 'key.replace("lot:", "");'],
  ])("%s is seen in the program and in the page", (_why, text) => {
    expect(composedAtColons("src/flow/turns/x.ts", text, parse(text))).toEqual([
      expect.stringContaining("src/flow/turns/x.ts:1"),
    ]);
    const page = `<script lang="ts">\n${text}\n</script>\n<p>{name}</p>`;
    expect(composedAtColons("ui/src/X.svelte", page, parseComponent(page))).toEqual([
      expect.stringContaining("ui/src/X.svelte:2"),
    ]);
    expect(composedAtColons("src/core/domain/keys.ts", text, parse(text))).toEqual([]);
  });

  test.each([
    ["an account in a template", "f(`${channel}/${at.account}`);"],
    ["an account within a longer template", "f(`seen ${at.channel}/${at.account}/${chat}`);"],
    ["an account with its separator in a constant", 'const SEP = "/"; f(`${channel}${SEP}${account}`);'],
    ["an account as a sum", 'f(at.channel + "/" + at.account);'],
    ["an account that is concatenated", 'f(channel.concat("/", account));'],
    ["an account that is joined", 'f([channel, account].join("/"));'],
    ["an account that is taken apart", 'const [channel = "", account] = name.split("/");'],
    ["a key with a space in it", "const key = given ?? `${caller.id} ${now}`;"],
    ["an id of two values", "f({ turnId: `${session}/${n}` });"],
  ])("%s is seen", (_why, text) => {
    expect(composedNames("src/flow/turns/x.ts", text, parse(text))).toEqual([
      expect.stringContaining("src/flow/turns/x.ts:1"),
    ]);
    expect(composedNames("src/core/domain/keys.ts", text, parse(text))).toEqual([]);
  });

  test.each([
    "const text = `${channel} of ${account}`;",
    "const key = `${name} is missing`;",
    "f(`${dir}/${account}`);",
  ])("%s composes no key", (text) => expect(composedNames("src/flow/turns/x.ts", text, parse(text))).toEqual([]));

  test("a key in a component's markup is seen", () => {
    const page = "<a href={`/chat/agent:${agent}:main`}>{`${turn}:in`}</a>";
    expect(keyPieces("ui/src/X.svelte", page, parseComponent(page))).toHaveLength(2);
    expect(composedAtColons("ui/src/X.svelte", page, parseComponent(page))).toHaveLength(2);
  });

  test.each([
    "`${name}: not found`",
    '"Port: " + port',
    "`http://${host}/x`",
    'url.startsWith("https:")',
    "/^mailto:/.test(url)",
    'text.includes(":")',
    "`${day}T12:00:00Z`",
    "/^error: /.exec(line)",
  ])("%s is no key", (text) => {
    expect(composedAtColons("src/flow/turns/x.ts", `f(${text});`, parse(`f(${text});`))).toEqual([]);
  });

  test.each([
    "`no agent: ${name}`",
    '"sub-agents: none"',
    "/(?:in|at) noon/",
    '{ cron: "0 7 * * *" }',
    '"node:inspector"',
  ])("%s is no piece of a key", (text) =>
    expect(keyPieces("src/flow/turns/x.ts", `f(${text});`, parse(`f(${text});`))).toEqual([]),
  );

  test.each([
    "{ ...(x === undefined ? {} : { x }) }",
    "{ a, ...(x !== undefined ? { x } : {}), b }",
    "{ ...(row.x === null ? {} : { y: row.x }) }",
    "{ ...(x ? { x } : {}) }",
    "{ ...(!x ? {} : { x }) }",
    "{ ...(a?.x && { x: a?.x }) }",
  ])("%s is a needless conditional spread", (text) => {
    expect(needlessSpreads("flow/turns/x.ts", `f(${text});`)).toEqual([
      expect.stringContaining("src/flow/turns/x.ts:1"),
    ]);
  });

  test.each([
    ["flow/commands/x.ts", 'return "Nothing is running.";', 1],
    ["flow/channels/x.ts", "f({ say: `Only ${owner} can answer this.` });", 1],
    ["flow/commands/words.ts", 'const NOTHING = "Nothing is running.";', 0],
    ["flow/channels/x.ts", 'throw new AppError("NOT_FOUND", { message: "There is no channel." });', 0],
    ["flow/channels/x.ts", 'log.warn("It will be tried again.");', 0],
    ["mind/schedule/x.ts", 'throw wrong("No time is given.", "Give a time.");', 0],
    ["mind/heartbeat/x.ts", 'const tool = { name: "quiet", description: "End this check." };', 0],
    ["flow/events/x.ts", 'return "Nothing is running.";', 0],
  ])("%s: %s has %i sentences outside the catalogue", (path, text, count) => {
    expect(sentencesOutsideCatalogue(path, `function f() { ${text} }`)).toHaveLength(count);
  });

  test.each([
    "{ ...(x > 1 ? { x } : {}) }",
    "{ ...(x === undefined ? {} : { x: shown(x) }) }",
    "{ ...(x ? { a, b } : {}) }",
    "{ ...(x ? { x } : { y }) }",
    "[...(x ? [x] : [])]",
  ])("%s has a condition of its own", (text) => expect(needlessSpreads("flow/turns/x.ts", `f(${text});`)).toEqual([]));

  test.each([
    ["a ? b : c ? d : e", 1],
    ["a ? (b ? c : d) : e", 1],
    ["a ? b : c ? d : e ? f : g", 2],
    ["a ? b : [c ? d : e]", 0],
    ["(a ? b : c) || (d ? e : f)", 0],
  ])("%s has %i nested ternaries", (text, count) => {
    expect(nestedTernaries("flow/turns/x.ts", `f(${text});`)).toHaveLength(count);
  });

  test.each([
    ["an insert", "INSERT INTO turn (id) VALUES (?)", 'writes "turn", which is flow/turns'],
    ["an upsert", "INSERT OR REPLACE INTO session VALUES (?) ON CONFLICT DO UPDATE SET a = 1", 'writes "session"'],
    ["an update", "UPDATE session SET prompt = NULL WHERE key = ?", 'writes "session", which is flow/sessions'],
    ["an update behind a query", "WITH a AS (SELECT 1) UPDATE turn SET a = 1", 'writes "turn"'],
    ["a deletion", "DELETE FROM message WHERE session = ?", 'writes "message", which is mind/context'],
    ["a table nobody knows", "UPDATE attic SET a = 1", 'writes "attic", which has no owner'],
    ["an update in small letters", "update turn set a = 1", 'writes "turn", which is flow/turns'],
    ["a deletion in small letters over two lines", "delete\n from message where a = 1", 'writes "message"'],
    ["a table in a variable", "DELETE FROM ${table} WHERE session = ?", "whose name stands in a variable"],
  ])("%s by another room", (_why, sql, expected) => {
    const found = foreignWrites(touchesIn("flow/gate/store.ts", "flow/gate", `tx.run(\`${sql}\`);`));
    expect(found).toEqual([expect.stringContaining(expected)]);
    expect(found[0]).toContain("src/flow/gate/store.ts:1");
  });

  test.each([
    ["INSERT OR IGNORE INTO turn (id) VALUES (?)", "ON CONFLICT"],
    ["SELECT 1 FROM turn WHERE agent IS ?", "DISTINCT FROM"],
    ["SELECT 1 FROM turn WHERE agent IS NOT session.agent", "DISTINCT FROM"],
    ["SELECT 1 FROM turn WHERE ? IS NULL OR id = ?", "has no type"],
    ["SELECT MAX(a, b) FROM turn", "CASE WHEN"],
    ["SELECT MAX(COALESCE(a, 0), b) FROM turn", "CASE WHEN"],
    ["SELECT 1 FROM (SELECT 1 FROM turn) WHERE a = 1", "AS w"],
    ["SELECT COUNT(*) FROM (SELECT 1 FROM turn LIMIT 2)", "AS w"],
    ["SELECT substr(id, -6) FROM turn", "from the start"],
    ["SELECT group_concat(id) FROM turn", "rows"],
    ["INSERT INTO a (n) VALUES (1) ON CONFLICT (k) DO UPDATE SET n = n + 1", "table.column"],
    ["SELECT route ->> '$.chat' FROM turn", "json_extract"],
    ["SELECT CAST(value AS INTEGER) FROM json_each(?)", "BIGINT"],
    ["SELECT 1 FROM turn WHERE 0", "1 = 1"],
  ])("%s is SQL for one database only", (sql, remedy) => {
    expect(unportable("flow/gate/store.ts", `db.all("${sql}");`)).toEqual([expect.stringContaining(remedy)]);
    const apart = `const TEXT = { sqlite: "${sql}", postgres: "SELECT 1 FROM turn" };`;
    expect(unportable("flow/gate/store.ts", apart)).toEqual([]);
  });

  test.each([
    "SELECT MAX(COALESCE(a, b)) FROM (SELECT 1 AS a FROM turn) AS w WHERE a IS NOT NULL AND b IS DISTINCT FROM ?",
    "SELECT 1 FROM turn WHERE 1 = 1 AND text = 'a -> b IS ? GLOB' AND id IN (SELECT value FROM json_each(?))",
    "INSERT INTO a (n) VALUES (1) ON CONFLICT (k) DO UPDATE SET n = a.n + excluded.n, m = excluded.m",
  ])("%s is SQL for both", (sql) => {
    expect(unportable("flow/gate/store.ts", `db.all("${sql}");`)).toEqual([]);
  });

  test("a room that reads another's table is noticed, once for each table; its own are its own", () => {
    const sql = "db.all('SELECT 1 FROM turn t JOIN session s ON s.key = t.session'); db.get('SELECT 1 FROM turn');";
    expect(foreignReaders(touchesIn("flow/turns/store.ts", "flow/turns", sql))).toEqual(["session: flow/turns"]);
    expect(foreignReaders(touchesIn("flow/gate/store.ts", "flow/gate", sql))).toEqual([
      "session: flow/gate",
      "turn: flow/gate",
    ]);
    expect(foreignReaders(touchesIn("flow/gate/store.ts", "flow/gate", "tx.run('DELETE FROM turn');"))).toEqual([]);
    const small =
      "db.all(`select t.id from turn t join ${x} s on s.key = t.session`); f('hear from session to session');";
    expect(foreignReaders(touchesIn("flow/gate/store.ts", "flow/gate", small))).toEqual(["turn: flow/gate"]);
  });

  test.each([
    ["behind another table", "db.all('SELECT 1 FROM approval a, turn t WHERE a.turn = t.id');"],
    ["behind another table, without short names", "db.all('SELECT 1 FROM approval, turn');"],
    ["behind the database's name", "db.all('SELECT 1 FROM main.turn');"],
    ["in quotes", 'db.all(\'SELECT 1 FROM "main"."turn" WHERE 1\');'],
    ["in pieces that are joined", "db.all(['SELECT 1', 'FROM turn', 'WHERE 1'].join(' '));"],
    ["in pieces that are concatenated", "db.all('SELECT 1 '.concat('FROM ', 'turn'));"],
    ["in a piece of a statement", "const OPEN = 'FROM turn t WHERE t.ended_at IS NULL';"],
    ["in a query within a query", "db.all('SELECT (SELECT 1 FROM turn) FROM approval');"],
  ])("a table is seen %s", (_where, sql) => {
    expect(foreignReaders(touchesIn("flow/approvals/store.ts", "flow/approvals", sql))).toEqual([
      "turn: flow/approvals",
    ]);
  });

  test("a write is seen behind the database's name", () => {
    const touches = touchesIn("flow/gate/store.ts", "flow/gate", "tx.run('UPDATE main.turn SET a = 1');");
    expect(foreignWrites(touches)).toEqual([expect.stringContaining('writes "turn"')]);
  });

  test("the UI may not reach past the protocol", () => {
    const page = '<script lang="ts">import { a } from "../../src/core/domain/index.ts";</script>';
    expect(uiViolations("ui/src/Page.svelte", page)[0]).toContain(
      "ui/src/Page.svelte imports src/core/domain/index.ts",
    );
    expect(
      uiViolations("ui/src/a.ts", 'import type { A } from "../../src/core/protocol/index.ts"; import "./b.ts";'),
    ).toEqual([]);
    expect(uiViolations("ui/src/a.ts", 'import { parse } from "../../src/core/render/index.ts";')).toEqual([]);
  });

  test("the line of the offence is named", () => {
    expect(violations("flow/turns/x.ts", '\n\nimport { a } from "../gate/index.ts";')[0]).toMatch(
      /^src\/flow\/turns\/x\.ts:3 /,
    );
  });
});

// biome-ignore-end lint/suspicious/noTemplateCurlyInString: these strings are source code

// ── the checker ─────────────────────────────────────────────────────────────────────────────────────────────────────

/** What a file does against the table, a sentence each. `path` is relative to src/. */
function violations(path: string, text: string): string[] {
  const room = roomOf(path);
  const allowed = MAY_IMPORT[room] ?? MAY_IMPORT[`${room.split("/")[0]}/*`];
  const isRoom = room === "app" || room === "main.ts" || /^[^/]+\/[^/]+/.test(room);
  if (!allowed || !isRoom) return [`src/${path} is on no floor of the house`];

  let deeds: Found[];
  try {
    deeds = findIn(text);
  } catch (error) {
    return [`src/${path} cannot be parsed: ${error instanceof Error ? error.message.split("\n")[0] : error}`];
  }
  return deeds.flatMap((found) => {
    const where = `src/${path}:${text.slice(0, found.at).split("\n").length}`;
    if (found.kind === "import") return importViolation(path, room, allowed, found.to).map((why) => `${where} ${why}`);
    return mayDo(path, found.kind) ? [] : [`${where} ${found.kind}; only ${MAY_DO[found.kind].join(", ")} may`];
  });
}

function importViolation(path: string, room: string, allowed: readonly string[], to: string | undefined): string[] {
  // Loads packages people install, by name: never a file of ours.
  if (to === undefined && path === "edges/channels/library.ts") return [];
  if (to === undefined) return ["has an import() whose target is not a literal, so nobody can check it"];
  if (!to.startsWith(".")) return [];
  const target = posix.normalize(posix.join(posix.dirname(path), to));
  if (target.startsWith("..")) return [`imports from outside src: ${to}`];
  const targetRoom = roomOf(target);
  // A room and the rooms inside it are one household; the inner ones among themselves are not.
  if (`${targetRoom}/`.startsWith(`${room}/`) || `${room}/`.startsWith(`${targetRoom}/`)) return [];
  if (!allowed.some((place) => targetRoom === place || targetRoom.startsWith(`${place}/`))) {
    return [`(${room}) may not import ${targetRoom}: ${to}`];
  }
  // Inside core the files are named one by one: index to index would be a circle of type imports.
  const bothCore = room.startsWith("core/") && targetRoom.startsWith("core/");
  // main.ts takes single files of app: the whole of it would be loaded for a command that only prints the token.
  const mainToApp = room === "main.ts" && targetRoom === "app";
  const isDoor = posix.basename(target) === "index.ts" || DOORS.includes(target);
  if (!bothCore && !mainToApp && !isDoor) return [`imports the insides of ${targetRoom}: ${to}; use its index.ts`];
  return [];
}

/** `flow/turns/segment.ts` → `flow/turns`; the engines are rooms of their own inside ground/engine. */
function roomOf(path: string): string {
  const parts = path.split("/");
  if (parts.length === 1) return parts[0]!;
  if (parts[0] === "app") return "app";
  if (parts[0] === "ground" && parts[1] === "engine" && parts.length > 3) return parts.slice(0, 3).join("/");
  return parts.length === 2 ? parts[0]! : parts.slice(0, 2).join("/");
}

function mayDo(path: string, deed: Deed): boolean {
  return MAY_DO[deed].some((place) =>
    place.endsWith(".ts") ? posix.basename(path) === place : path.startsWith(`${place}/`),
  );
}

type Found = { at: number } & ({ kind: "import"; to: string | undefined } | { kind: Deed });

/** Reads the syntax tree, so that comments and look-alike strings do not count. */
function findIn(text: string): Found[] {
  const found: Found[] = [];
  const tree = parse(text);
  // `const name = "node:sqlite"; import(name)` hides a module from the type checker, not from us.
  const words = new Map<unknown, string | undefined>();
  visit(tree, (node) => {
    if (node.type === "VariableDeclarator" && literal(node.init)) words.set((node.id as Ast).name, literal(node.init));
  });
  for (const { at } of sqlTextsIn(tree)) found.push({ kind: "has SQL", at });
  visit(tree, (node) => {
    const at = node.start;
    const imported = importOf(node, words);
    if (imported) found.push({ kind: "import", at, to: imported.to });
    if (readsEnvironment(node)) found.push({ kind: "reads process.env", at });
    if (node.type === "CallExpression" && isGlobal(node.callee, "fetch")) found.push({ kind: "calls fetch", at });
  });
  return found;
}

/** Which of Node's functions that open or change files a text takes; empty when none. */
function opens(text: string): string {
  const found: string[] = [];
  const isFs = (value: unknown) => /^(node:)?fs(\/promises)?$/.test(literal(value) ?? "");
  visit(parse(text), (node) => {
    if (node.type === "ImportDeclaration" && isFs(node.source) && node.importKind !== "type") {
      for (const one of node.specifiers as Ast[]) {
        const name = one.type === "ImportSpecifier" ? String((one.imported as Ast).name) : "all of it";
        if (one.importKind !== "type" && !LOOKS.test(name)) found.push(name);
      }
      return;
    }
    const first = (node.arguments as Ast[] | undefined)?.[0];
    const isLoad = node.type === "ImportExpression" || /^Export(Named|All)Declaration$/.test(node.type);
    const isCall =
      node.type === "CallExpression" && /^(require|getBuiltinModule)$/.test(calledName(node.callee as Ast));
    if (isLoad ? isFs(node.source) : isCall && isFs(first)) found.push("all of it");
  });
  return found.join(", ");
}

function calledName(callee: Ast): string {
  const name = callee.type === "MemberExpression" ? (callee.property as Ast).name : callee.name;
  return typeof name === "string" ? name : "";
}

function importOf(node: Ast, words: ReadonlyMap<unknown, string | undefined>): { to: string | undefined } | undefined {
  switch (node.type) {
    case "ImportDeclaration":
    case "ExportNamedDeclaration":
    case "ExportAllDeclaration":
    case "TSImportType":
      return node.source ? { to: literal(node.source) } : undefined;
    case "ImportExpression":
      return { to: literal(node.source) ?? words.get((node.source as Ast).name) };
    case "CallExpression": {
      const first = (node.arguments as Ast[])[0];
      return isName(node.callee, "require") && first ? { to: literal(first) ?? "" } : undefined;
    }
    case "NewExpression": {
      // A worker's file is named by its URL.
      const to = literal((node.arguments as Ast[])[0]);
      return isName(node.callee, "URL") && to && /^\.{1,2}\/.*\.(ts|js|mjs)$/.test(to) ? { to } : undefined;
    }
    default:
      return undefined;
  }
}

function readsEnvironment(node: Ast): boolean {
  if (node.type === "MemberExpression") {
    return isGlobal(node.object, "process") && (isName(node.property, "env") || literal(node.property) === "env");
  }
  if (node.type === "VariableDeclarator") {
    const id = node.id as Ast;
    return (
      isGlobal(node.init, "process") &&
      id.type === "ObjectPattern" &&
      (id.properties as Ast[]).some((p) => isName(p.key, "env"))
    );
  }
  if (node.type === "ImportDeclaration" && /^(node:)?process$/.test(literal(node.source) ?? "")) {
    return (node.specifiers as Ast[]).some((s) => isName(s.imported, "env"));
  }
  return false;
}

/** `name`, or `globalThis.name`. */
function isGlobal(value: unknown, name: string): boolean {
  const node = value as Ast | null | undefined;
  if (node?.type === "MemberExpression") return isName(node.object, "globalThis") && isName(node.property, name);
  return isName(node, name);
}

function isName(value: unknown, name: string): boolean {
  const node = value as Ast | null | undefined;
  return node?.type === "Identifier" && node.name === name;
}

function literal(value: unknown): string | undefined {
  const node = value as Ast | null | undefined;
  if (node?.type === "Literal" && typeof node.value === "string") return node.value;
  if (node?.type !== "TemplateLiteral" || (node.expressions as Ast[]).length > 0) return undefined;
  return ((node.quasis as Ast[])[0]!.value as { cooked: string }).cooked;
}

/** The words on the wire, and the one reader of Markdown: the page shows an answer as every channel does. */
const UI_MAY_IMPORT = ["ui/", "src/core/protocol/", "src/core/render/"];

/** Svelte files are not TypeScript; their imports are read as text. */
function uiViolations(path: string, text: string): string[] {
  const imports = text.matchAll(/(?:from|import)\s*\(?\s*["'`](\.{1,2}\/[^"'`]+)["'`]/g);
  return [...imports].flatMap(([, to]) => {
    const target = posix.normalize(posix.join(posix.dirname(path), to!));
    return UI_MAY_IMPORT.some((folder) => target.startsWith(folder)) ? [] : [`${path} imports ${target}`];
  });
}

function sourceFiles(): { path: string; text: string }[] {
  return listFiles(join(ROOT, "src"))
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .map((file) => ({ path: slashes(relative(join(ROOT, "src"), file)), text: readFileSync(file, "utf8") }));
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : listFiles(path);
    return entry.isFile() ? [path] : [];
  });
}

function slashes(path: string): string {
  return path.split(sep).join("/");
}
