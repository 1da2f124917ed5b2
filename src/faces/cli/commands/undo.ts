/** `lares undo`: what turns changed in files, and the way back. */
import type { Action, Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { ago, oneLine, plural } from "../format.ts";
import { table } from "../output.ts";
import { undoWords as words } from "../words/answer.ts";
import { kept } from "./sessions.ts";

/** Without a turn: what can be undone. With one: shows what would happen, asks, restores. */
export const undo: Action = async (ctx, [turn]) => {
  if (!turn) return list(ctx);
  const { rpc, out, options } = ctx;
  const plan = await rpc.call("undo.turn", { turn, dryRun: true });
  const rows = (files: typeof plan.files) =>
    table(
      files.map((f) => [
        GLYPHS[f.result],
        oneLine(f.path),
        f.result,
        f.reason ? out.paint(oneLine(f.reason), "dim") : "",
      ]),
      "  ",
    );
  const possible = plan.files.filter((f) => f.result === "restored" || f.result === "removed");
  if (options.dryRun || !possible.length) {
    out.document(plan);
    const first = possible.length ? words.wouldRestore(possible.length) : words.nothing;
    out.say(first, ...rows(plan.files), ...plan.notes.map((note) => `  ${oneLine(note)}`));
    return countLeft(plan.files) && !options.dryRun ? EXIT.failed : EXIT.done;
  }
  const { confirmed } = await import("../confirm.ts");
  out.note([words.willRestore(possible.length), ...rows(plan.files)].join("\n"));
  if (!(await confirmed(ctx, words.question))) return kept(ctx);
  const done = await rpc.call("undo.turn", { turn });
  out.document(done);
  const left = countLeft(done.files);
  out.say(
    left ? words.restoredExcept(left) : words.restored,
    ...rows(done.files),
    ...(done.undo ? [words.undoThat(out.hint, done.undo)] : []),
  );
  return left ? EXIT.failed : EXIT.done;
};

/** Files that stay as they are although the turn changed them. */
function countLeft(files: readonly { result: keyof typeof GLYPHS }[]): number {
  return files.filter((f) => f.result === "conflict" || f.result === "lost").length;
}

function undoState({ undoneBy, undoes }: { undoneBy?: string | undefined; undoes?: string | undefined }): string {
  if (undoneBy) return words.undone;
  return undoes ? words.undid(undoes) : "";
}

const GLYPHS = { restored: "✓", removed: "✓", already: "–", conflict: "✕", lost: "?" } as const;

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
