/** `lares undo`: what turns changed in files, and the way back. */
import type { Action, Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { ago, oneLine, plural } from "../format.ts";
import { table } from "../output.ts";
import { undoWords as words } from "../words/answer.ts";
import { reportDeclined } from "./sessions.ts";

/** Without a turn: what can be undone. With one: shows what would happen, asks, restores. */
export const undo: Action = async (ctx, [turn]) => {
  if (!turn) return list(ctx);
  const { rpc, out, options } = ctx;
  const plan = await rpc.call("undo.turn", { turn, dryRun: true });
  const rows = (files: readonly RestoredFile[], says: Record<RestoreResult, string>) =>
    table(
      summarize(files).map(({ path, result, reason }) => [
        says === words.planned ? PLANNED[result] : GLYPHS[result],
        oneLine(path),
        says[result],
        reason ? out.paint(oneLine(reason), "dim") : "",
      ]),
      "  ",
    );
  const possible = plan.files.filter(isTakenBack);
  const planned = [...rows(plan.files, words.planned), ...notes(plan.notes)];
  if (options.dryRun || !possible.length) {
    out.document(plan);
    const first = possible.length ? words.wouldRestore(possible.length, nameLeft(plan.files)) : words.nothing;
    out.say(first, ...planned);
    return nameLeft(plan.files) && !options.dryRun ? EXIT.failed : EXIT.done;
  }
  const { confirmed } = await import("../confirm.ts");
  out.note([words.willRestore(possible.length, nameLeft(plan.files)), ...planned].join("\n"));
  if (!(await confirmed(ctx, words.question))) return reportDeclined(ctx);
  const done = await rpc.call("undo.turn", { turn });
  out.document(done);
  const left = nameLeft(done.files);
  out.say(
    left ? words.restoredExcept(done.files.filter(isTakenBack).length, left) : words.restored,
    ...rows(done.files, words.results),
    ...notes(done.notes),
    ...(done.undo ? [words.undoThat(out.hint, done.undo)] : []),
  );
  return left ? EXIT.failed : EXIT.done;
};

/** What a command of the turn did that stays as it is. */
function notes(said: readonly string[]): string[] {
  return said.map((note) => `  ${oneLine(note)}`);
}

function isTakenBack({ result }: RestoredFile): boolean {
  return result === "restored" || result === "removed";
}

/** Files that stay as they are although the turn changed them: their names, or how many. Empty when there are none. */
function nameLeft(files: readonly RestoredFile[]): string {
  const left = files.filter((f) => f.result === "conflict" || f.result === "lost");
  return left.length > MOST_NAMED ? words.manyFiles(left.length) : left.map((f) => oneLine(f.path)).join(", ");
}

/** Every file of a few; of many, some of each kind and how many more. */
function summarize(files: readonly RestoredFile[]): RestoredFile[] {
  if (files.length <= MOST_LISTED) return [...files];
  const groups = new Map<string, RestoredFile[]>();
  for (const file of files) {
    const kind = `${file.result} ${file.reason ?? ""}`;
    const group = groups.get(kind);
    if (group) group.push(file);
    else groups.set(kind, [file]);
  }
  return [...groups.values()].flatMap((group) => {
    if (group.length <= MOST_NAMED + 1) return group;
    return [...group.slice(0, MOST_NAMED), { ...group[0]!, path: words.andMore(group.length - MOST_NAMED) }];
  });
}

function undoState({ undoneBy, undoes }: { undoneBy?: string | undefined; undoes?: string | undefined }): string {
  if (undoneBy) return words.undone;
  return undoes ? words.undid(undoes) : "";
}

const GLYPHS = { restored: "✓", removed: "✓", already: "–", conflict: "✕", lost: "?" } as const;
/** Before it is done nothing gets a tick. */
const PLANNED = { ...GLYPHS, restored: " ", removed: " " } as const;
type RestoreResult = keyof typeof GLYPHS;
/** More files than this are summarized. */
const MOST_LISTED = 20;
const MOST_NAMED = 5;

interface RestoredFile {
  path: string;
  result: RestoreResult;
  reason?: string | undefined;
}

async function list({ rpc, out, clock, options }: Context): Promise<number> {
  const limit = typeof options.limit === "number" ? { limit: options.limit } : {};
  const session = typeof options.session === "string" ? { session: options.session } : {};
  const { turns } = await rpc.call("undo.list", { ...limit, ...session });
  const newestLast = [...turns].reverse();
  out.items(newestLast);
  out.say(
    turns.length ? words.turns(out.hint) : words.none,
    ...table(
      newestLast.map((t) => [
        t.turn,
        ago(t.at, clock.now()),
        plural(t.files.length, "file"),
        oneLine(t.files.map((f) => f.path).join(", ")),
        out.paint(undoState(t), "dim"),
      ]),
      "  ",
    ),
  );
  return EXIT.done;
}
