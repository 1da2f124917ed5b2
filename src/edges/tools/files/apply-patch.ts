/**
 * `apply_patch`: several files at once, all or nothing. Everything is worked out before anything is written; a write that
 * fails is rolled back with the others. After a kill in the middle the probe looks at each file and finishes the rest: every file
 * is replaced atomically, so each is the old or the new one. When all are old, it runs now. `repeat` is `never`: the same patch
 * again is another change.
 */
import { z } from "zod";
import type { ActionPlan, Probed, Tool, ToolPlace, ToolResult } from "../../../core/contracts/index.ts";
import { AppError, type Origin } from "../../../core/domain/index.ts";
import { visible, visibleLine } from "../escape.ts";
import { parseInput } from "../input.ts";
import { didYouMean, type Inside, nearNames, rooted, withInside, wrongInput } from "../paths/index.ts";
import { decodeText, humanSize } from "./content.ts";
import { numbered } from "./nearest.ts";
import { fitHunks, reversed } from "./patch/fit.ts";
import { type PatchChange, parsePatch } from "./patch/parse.ts";
import { planFile, sha256 } from "./plan.ts";

/** As `edit` has it. */
const MOST_BYTES = 10 * 1024 * 1024;
/** A larger patch is no longer one change, and nobody reads it before approving. */
const MOST_FILES = 200;
/** New lines shown again, of all files together. */
const MOST_LINES = 12;

/** In the tool's own words, so that models who never saw the form can write it. */
export const EXAMPLE_PATCH = `*** Begin Patch
*** Update File: notes/todo.md
@@
 - buy milk
-- call Ann
+- call Ann on Monday
*** Add File: notes/done.md
+- paid the rent
*** End Patch`;

const schema = z.strictObject({ patch: z.string().min(1).max(1_000_000) });

/** One file before and after; null: no file. */
interface Written {
  /** Its name is the patch's own word: no link led to another. */
  isAsGiven: boolean;
  path: string;
  absolute: string;
  before: Buffer | null;
  after: string | Buffer | null;
  mode: number | undefined;
}

interface Worked {
  origin: Origin;
  /** New contents first, removals last: a renamed file is never gone. */
  files: Written[];
  /** One line a change, for the model. */
  said: string[];
  /** The patch as it will be applied, for people. */
  shown: string;
}

export function createApplyPatch(): Tool {
  return {
    spec: {
      name: "apply_patch",
      description: `Change, add, move or delete several files at once; nothing changes unless all of it fits. Takes a unified diff or this form:\n${EXAMPLE_PATCH}`,
      input: {
        type: "object",
        properties: { patch: { type: "string", description: "three lines of context around each change" } },
        required: ["patch"],
      },
    },
    repeat: "never",
    opensFiles: () => true,
    async plan(raw, place) {
      const changes = checked(raw);
      const outside = await firstOutside(changes, place);
      if (outside) return outside;
      const { files, shown } = await workOut(changes, place);
      return {
        tool: "apply_patch",
        risk: "write",
        targets: files.map((file) => file.absolute),
        shown,
        binding: {
          files: files.map(({ absolute, before, after }) => ({
            path: absolute,
            before: print(before),
            after: print(after),
          })),
        },
        leaves: files.map(({ absolute, after }) => ({ path: absolute, sha256: print(after) })),
      };
    },
    async run(raw, place, key, signal) {
      const worked = await workOut(checked(raw), place);
      signal.throwIfAborted();
      await writeAll(worked.files, place, key);
      return done(worked);
    },
    async probe(raw, place, key) {
      return probe(checked(raw), place, key);
    },
  };
}

function checked(raw: Parameters<Tool["plan"]>[0]): PatchChange[] {
  const changes = parsePatch(parseInput("apply_patch", schema, raw).patch);
  if (changes.length > MOST_FILES)
    throw wrongInput(
      `apply_patch: The patch changes ${changes.length} files; at most ${MOST_FILES} are allowed.`,
      "Make it several patches.",
    );
  return changes;
}

/** A path that leads out still gets a plan, so that the gate decides and records. */
async function firstOutside(changes: readonly PatchChange[], place: ToolPlace): Promise<ActionPlan | undefined> {
  for (const path of changes.flatMap(listPaths)) {
    const details = " by a patch";
    const plan = await planFile({
      tool: "apply_patch",
      risk: "write",
      place,
      path,
      parents: "imagine",
      details,
      binding: {},
    });
    if (plan.outside) return plan;
  }
  return undefined;
}

function listPaths(change: PatchChange): string[] {
  return change.kind === "update" && change.moveTo !== undefined ? [change.path, change.moveTo] : [change.path];
}

// ---- what it comes to

async function workOut(changes: readonly PatchChange[], place: ToolPlace): Promise<Worked> {
  const known = new Map<string, Written>();
  const said: string[] = [];
  const shown: string[] = [];
  let left = MOST_LINES;
  const at = (path: string) => lookAt(path, place, known);
  for (const change of changes) {
    const file = await at(change.path);
    const name = visibleLine(file.path);
    if (change.kind === "add") {
      if (file.after !== null) {
        throw wrongInput(
          `apply_patch: "${name}" already exists, but the patch adds it as a new file; nothing was changed.`,
          "Update it instead, or delete it first.",
        );
      }
      file.after = change.content;
      said.push(`created ${name}`);
      shown.push(`new file ${name}\n${marked("+", change.content)}`);
    } else if (change.kind === "delete") {
      await mustBeThere(file, place);
      file.after = null;
      said.push(`deleted ${name}`);
      shown.push(`delete ${name} (${humanSize(file.before?.length ?? 0)})`);
    } else {
      await mustBeThere(file, place);
      const { text, added, removed, notes, lines, fresh } = fitHunks(name, showText(file), change.hunks);
      const body = change.hunks.map((hunk, i) => `@@ line ${lines[i]} @@\n${hunkText(hunk.lines)}`).join("\n");
      const target = change.moveTo === undefined ? file : await at(change.moveTo);
      if (target !== file) {
        if (target.after !== null) {
          throw wrongInput(
            `apply_patch: "${visibleLine(target.path)}" already exists, so nothing can be moved there; nothing was changed.`,
            "Choose another name, or delete that file first.",
          );
        }
        file.after = null;
        target.mode = file.mode;
      }
      target.after = text;
      const to = target === file ? "" : ` to ${visibleLine(target.path)}`;
      said.push(`${to ? "moved" : "updated"} ${name}${to} (+${added} −${removed})`, ...notes);
      // Only the patch's own lines: nothing of the file is said.
      for (const { line, text: now } of fresh.slice(0, Math.max(0, left))) said.push(numbered([now], line));
      left -= fresh.length;
      shown.push(`${to ? "move" : "update"} ${name}${to}${body ? `\n${body}` : ""}`);
    }
  }
  const files = [...known.values()].filter((file) => !isSame(file.before, file.after));
  if (files.length === 0)
    throw wrongInput("apply_patch: The files already look as the patch would leave them; there is nothing to change.");
  files.sort((a, b) => Number(a.after === null) - Number(b.after === null));
  const origin = [...known.values()].every((file) => file.isAsGiven) ? "own" : "outside";
  return { files, said, origin, shown: [`apply_patch, ${count(changes.length, "change")}:`, ...shown].join("\n") };
}

/** The file as the changes so far leave it. The same file under another name is the same file. */
async function lookAt(path: string, place: ToolPlace, known: Map<string, Written>): Promise<Written> {
  return withInside({ ...rooted(place, path), parents: "imagine" }, async (inside) => {
    const seen = known.get(inside.absolute);
    if (seen) return seen;
    inside.checkWritable();
    const before = await readContent(inside);
    const mode = inside.stat()?.mode;
    const { path: at, absolute, isAsGiven } = inside;
    const fresh: Written = { path: at, absolute, isAsGiven, before, after: before, mode };
    known.set(inside.absolute, fresh);
    return fresh;
  });
}

async function readContent(inside: Inside): Promise<Buffer | null> {
  return inside.kind === "missing" ? null : inside.readFile(MOST_BYTES);
}

async function mustBeThere(file: Written, place: ToolPlace): Promise<void> {
  if (file.after !== null) return;
  const near = await nearNames(place, file.path);
  throw wrongInput(
    `apply_patch: There is no "${visibleLine(file.path)}"; nothing was changed.${near.length ? ` ${didYouMean(near)}` : ""}`,
    near.length ? undefined : "See what is there with list.",
  );
}

function showText({ path, after }: Written): string {
  const text = typeof after === "string" ? after : decodeText(after ?? Buffer.alloc(0));
  if (text === undefined) throw wrongInput(`"${visibleLine(path)}" is not UTF-8 text; nothing was changed.`);
  return text;
}

// ---- doing it

/** All files or none: what was written before a failure is put back. */
async function writeAll(files: readonly Written[], place: ToolPlace, key: string): Promise<void> {
  const written: Written[] = [];
  try {
    for (const file of files) {
      // Before the attempt: a failure may come after the file was replaced.
      written.push(file);
      await writeOne(file, file.before, file.after, place, `${key}:${file.path}`);
    }
  } catch (error) {
    const left: string[] = [];
    for (const file of written.reverse()) {
      await writeOne(file, file.after, file.before, place, `${key}:${file.path}:back`).catch(() =>
        left.push(file.path),
      );
    }
    // The one that failed has its old content; only others can be left over.
    const bad = await stillChanged(left, files, place);
    if (bad.length === 0 || !(error instanceof AppError)) throw error;
    throw new AppError(error.code, {
      message: `${error.message} These files were already changed and could not be restored: ${bad.map(visibleLine).join(", ")}.`,
      retry: "after-change",
      cause: error,
    });
  }
}

/** Only from what it was to what it should be: a file that somebody changed meanwhile is not touched. */
async function writeOne(
  file: Written,
  from: Written["before"] | Written["after"],
  to: Written["after"],
  place: ToolPlace,
  tag: string,
): Promise<void> {
  await withInside({ ...rooted(place, file.absolute), parents: to === null ? "need" : "make" }, async (inside) => {
    inside.checkWritable();
    const now = await readContent(inside);
    if (isSame(now, to)) return;
    if (!isSame(now, from)) {
      throw wrongInput(`"${visibleLine(file.path)}" was changed by someone else in the meantime; nothing was changed.`);
    }
    if (to === null) await inside.remove();
    else await inside.writeAtomic(to, tag, file.mode);
  });
}

async function stillChanged(paths: string[], files: readonly Written[], place: ToolPlace): Promise<string[]> {
  const bad: string[] = [];
  for (const file of files.filter((one) => paths.includes(one.path))) {
    const at = { ...rooted(place, file.absolute), parents: "imagine" as const };
    const now = await withInside(at, readContent).catch(() => undefined);
    if (now === undefined || !isSame(now, file.before)) bad.push(file.path);
  }
  return bad;
}

function done({ files, said, origin }: Worked, note = ""): ToolResult {
  return {
    text: `${said.join("\n")}${note}`,
    origin,
    meta: {
      files: files.map(({ path, before, after }) => ({
        path,
        change: nameChange(before, after),
      })),
    },
  };
}

function nameChange(before: unknown, after: unknown): "created" | "deleted" | "changed" {
  if (before === null) return "created";
  return after === null ? "deleted" : "changed";
}

// ---- after a crash

type PatchState = "old" | "new" | "unclear";

async function probe(changes: readonly PatchChange[], place: ToolPlace, key: string): Promise<Probed<ToolResult>> {
  for (const change of changes) await endMove(change, place);
  const standing = await Promise.all(changes.map((change) => readState(change, place)));
  const names = (which: PatchState) =>
    changes.flatMap((change, i) => (standing[i] === which ? listPaths(change).map(visibleLine) : []));
  for (const path of changes.flatMap(listPaths)) {
    await withInside({ ...rooted(place, path), parents: "imagine" }, async (inside) => {
      await inside.discard(`${key}:${inside.path}`);
    }).catch(() => undefined);
  }
  if (standing.every((one) => one === "new")) {
    return { ok: { text: `The patch was applied: ${names("new").join(", ")}.`, meta: { probed: true } } };
  }
  if (standing.every((one) => one === "old")) return { never: true };
  if (standing.every((one) => one !== "unclear")) {
    const worked = await workOut(
      changes.filter((_, i) => standing[i] === "old"),
      place,
    );
    await writeAll(worked.files, place, key);
    const note = `\n[It was interrupted; done before that: ${names("new").join(", ")}. The rest is done now.]`;
    return { ok: done(worked, note) };
  }
  if (changes.length === 1) return undefined;
  const parts = [
    ["changed", names("new")],
    ["unchanged", names("old")],
    ["not clear", names("unclear")],
  ] as const;
  const list = parts.filter(([, of]) => of.length > 0).map(([word, of]) => `${word}: ${of.join(", ")}`);
  const text = `The patch was interrupted in the middle (${list.join("; ")}). Look at these files before you go on.`;
  return { ok: { text, isError: true, meta: { probed: true } } };
}

/** The new file is written before the old one goes: both there, and the new one as it should be, only lacks that. */
async function endMove(change: PatchChange, place: ToolPlace): Promise<void> {
  if (change.kind !== "update" || change.moveTo === undefined) return;
  const at = (path: string) => ({ ...rooted(place, path), parents: "imagine" as const });
  const moved = await withInside(at(change.moveTo), readContent).catch(() => null);
  if (moved === null) return;
  await withInside(at(change.path), async (inside) => {
    const now = await readContent(inside);
    const text = now === null ? undefined : decodeText(now);
    if (text === undefined || !fits(text, change.hunks)) return;
    if (isSame(fitHunks("", text, change.hunks).text, moved)) await inside.remove();
  }).catch(() => undefined);
}

async function readState(change: PatchChange, place: ToolPlace): Promise<PatchState> {
  const read = (path: string) =>
    withInside({ ...rooted(place, path), parents: "imagine" }, readContent).catch(() => undefined);
  const now = await read(change.path);
  if (now === undefined) return "unclear";
  if (change.kind === "delete") return now === null ? "new" : "old";
  if (change.kind === "add") {
    if (now === null) return "old";
    if (isSame(now, change.content)) return "new";
    return "unclear";
  }
  const moved = change.moveTo === undefined ? undefined : await read(change.moveTo);
  if (change.moveTo !== undefined) {
    if (moved === undefined) return "unclear";
    if (now !== null && moved === null) return "old";
    return now === null && moved !== null ? "new" : "unclear";
  }
  const text = now === null ? undefined : decodeText(now);
  if (text === undefined) return "unclear";
  const [forward, back] = [fits(text, change.hunks), fits(text, reversed(change.hunks))];
  if (forward === back) return "unclear";
  if (forward) return "old";
  return "new";
}

function fits(text: string, hunks: Parameters<typeof fitHunks>[2]): boolean {
  try {
    fitHunks("", text, hunks);
    return true;
  } catch {
    return false;
  }
}

// ---- small

function isSame(a: string | Buffer | null, b: string | Buffer | null): boolean {
  if (a === null || b === null) return a === b;
  return Buffer.from(a as string).equals(Buffer.from(b as string));
}

function print(content: string | Buffer | null): string | null {
  return content === null ? null : sha256(content);
}

function marked(sign: string, text: string): string {
  if (text === "") return "(empty)";
  const body = text.endsWith("\n") ? text.slice(0, -1) : text;
  return visible(body)
    .split("\n")
    .map((line) => sign + line)
    .join("\n");
}

function hunkText(lines: readonly { kind: string; text: string }[]): string {
  return lines.map(({ kind, text }) => kind + visible(text)).join("\n");
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}
