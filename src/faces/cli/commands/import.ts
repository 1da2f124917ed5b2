/** `lares import`: moving in from another system, item by item, with a dry run first. */
import { resolve } from "node:path";
import { truthy } from "../../../core/kit/index.ts";
import { diff, type Result } from "../../../core/protocol/index.ts";
import type { Action } from "../context.ts";
import { EXIT } from "../exit.ts";
import { oneLine, plural, visible } from "../format.ts";
import { type Output, table } from "../output.ts";

type Item = Result<"import.run">["items"][number];

const SIGN: Record<Item["state"], string> = { new: "+", "there already": "=", "left out": "-", failed: "!" };

const importFrom =
  (from: "openclaw" | "hermes"): Action =>
  async ({ rpc, out, options }, [dir = ""]) => {
    const { items, dryRun } = await rpc.call("import.run", {
      from,
      dir: resolve(dir),
      ...truthy({ dryRun: options.dryRun, secrets: options.withSecrets }),
    });
    out.items(items);
    const count = (state: Item["state"]) => items.filter((item) => item.state === state).length;
    out.say(
      ...table(
        items.map((item) => [
          SIGN[item.state],
          item.what,
          oneLine(item.name),
          item.becomes ? `→ ${item.becomes}` : "",
          item.why ? out.paint(out.ours(item.why), "dim") : "",
        ]),
        "  ",
      ),
      `${plural(items.length, "item")}: ${count("new")} ${dryRun ? "would be imported" : "imported"}, ${count("there already")} already here, ${count("left out")} left out${count("failed") ? `, ${count("failed")} failed` : ""}.`,
      ...(dryRun ? ["Nothing was changed. Run it without --dry-run to import."] : waiting(items, out)),
    );
    return count("failed") ? EXIT.failed : EXIT.done;
  };

/** What this import left to decide, and nothing when it left nothing. */
function waiting(items: readonly Item[], out: Output): string[] {
  const fresh = (what: Item["what"]) => items.filter((item) => item.what === what && item.state === "new").length;
  const [files, facts] = [fresh("file"), fresh("memory")];
  const what = [files ? plural(files, "proposed file") : "", facts ? plural(facts, "fact") : ""].filter(Boolean);
  if (!what.length) return [];
  return [
    out.hint`${what.join(" and ")} ${files + facts === 1 ? "is" : "are"} waiting for you: lares import proposals`,
  ];
}

export const openclaw = importFrom("openclaw");
export const hermes = importFrom("hermes");

export const proposals: Action = async ({ rpc, out }) => {
  const found = await rpc.call("import.proposals", {});
  out.document(found);
  const facts = found.facts
    ? [
        out.hint`${plural(found.facts, "imported fact")} to confirm: lares memory pending. Accept all: lares import accept facts`,
      ]
    : [];
  const files = found.files.flatMap(({ id, now, proposed }) => [
    out.hint`${id}  lares import accept ${id}`,
    ...diff(now, proposed).map(({ mark, text }) =>
      out.paint(`  ${mark} ${visible(text)}`, mark === " " ? "dim" : mark === "+" ? "ok" : "fail"),
    ),
  ]);
  out.say(...files, ...facts, ...(files.length + facts.length ? [] : ["No proposals."]));
  return EXIT.done;
};

export const accept: Action = async ({ rpc, out }, [id = ""]) => {
  const done = await rpc.call("import.accept", { id });
  out.document(done);
  out.say(id === "facts" ? `Accepted ${plural(done.accepted, "fact")}.` : `Replaced ${id} with the proposal.`);
  return EXIT.done;
};

export const reject: Action = async ({ rpc, out }, [id = ""]) => {
  const done = await rpc.call("import.reject", { id });
  out.document(done);
  out.say(id === "facts" ? `Deleted ${plural(done.rejected, "fact")}.` : `Deleted the proposal for ${id}.`);
  return EXIT.done;
};
