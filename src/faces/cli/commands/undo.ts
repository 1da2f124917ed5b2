/** `lares undo`: what turns changed in files, and the way back. */
import type { Action, Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { ago, oneLine, plural } from "../format.ts";
import { table } from "../output.ts";
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
    const first = possible.length ? `${plural(possible.length, "file")} would be restored.` : "Nothing to restore.";
    out.say(first, ...rows(plan.files), ...plan.notes.map((note) => `  ${oneLine(note)}`));
    return EXIT.done;
  }
  const { confirmed } = await import("../confirm.ts");
  out.note([`${plural(possible.length, "file")} would be restored:`, ...rows(plan.files)].join("\n"));
  if (!(await confirmed(ctx, "Restore them?"))) return kept(ctx);
  const done = await rpc.call("undo.turn", { turn });
  out.document(done);
  const left = done.files.filter((f) => f.result === "conflict" || f.result === "lost").length;
  out.say(
    left ? `Restored, except ${plural(left, "file")}.` : "Restored.",
    ...rows(done.files),
    ...(done.undo ? [out.hint`Undo that: lares undo ${done.undo}`] : []),
  );
  return left ? EXIT.failed : EXIT.done;
};

const GLYPHS = { restored: "✓", removed: "✓", already: "–", conflict: "✕", lost: "?" } as const;

async function list({ rpc, out, clock, options }: Context): Promise<number> {
  const limit = typeof options.limit === "number" ? { limit: options.limit } : {};
  const session = typeof options.session === "string" ? { session: options.session } : {};
  const { turns } = await rpc.call("undo.list", { ...limit, ...session });
  const newestLast = [...turns].reverse();
  out.items(newestLast);
  out.say(
    turns.length
      ? out.hint`Turns that changed files, newest last. Undo one: lares undo TURN`
      : "No turn has changed files.",
    ...table(
      newestLast.map((t) => [
        t.turn,
        ago(t.at, clock.now()),
        plural(t.files.length, "file"),
        oneLine(t.files.map((f) => f.path).join(", ")),
        t.undoneBy ? out.paint("undone", "dim") : t.undoes ? out.paint(`undid ${t.undoes}`, "dim") : "",
      ]),
      "  ",
    ),
  );
  return EXIT.done;
}
