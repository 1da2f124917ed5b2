/** `lares import`: moving in from another system, item by item, with a dry run first. */
import { resolve } from "node:path";
import { truthy } from "../../../core/kit/index.ts";
import { type DiffLine, diff, type Result } from "../../../core/protocol/index.ts";
import type { Action } from "../context.ts";
import { EXIT } from "../exit.ts";
import { oneLine, type Tone, visible } from "../format.ts";
import { type Output, table } from "../output.ts";
import { importWords as words } from "../words/set-up.ts";

type Item = Result<"import.run">["items"][number];

const SIGN: Record<Item["state"], string> = { new: "+", "there already": "=", "left out": "-", failed: "!" };

const TONES: Readonly<Record<DiffLine["mark"], Tone>> = { " ": "dim", "+": "ok", "-": "fail" };

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
      words.counts(items.length, count("new"), dryRun, count("there already"), count("left out"), count("failed")),
      ...(dryRun ? [words.dryRun] : waiting(items, out)),
    );
    return count("failed") ? EXIT.failed : EXIT.done;
  };

/** What this import left to decide, and nothing when it left nothing. */
function waiting(items: readonly Item[], out: Output): string[] {
  const fresh = (what: Item["what"]) => items.filter((item) => item.what === what && item.state === "new").length;
  const [files, facts] = [fresh("file"), fresh("memory")];
  const what = [files ? words.files(files) : "", facts ? words.plainFacts(facts) : ""].filter(Boolean);
  if (!what.length) return [];
  return [words.waiting(out.hint, what.join(" and "), files + facts)];
}

export const openclaw = importFrom("openclaw");
export const hermes = importFrom("hermes");

export const proposals: Action = async ({ rpc, out }) => {
  const found = await rpc.call("import.proposals", {});
  out.document(found);
  const facts = found.facts ? [words.facts(out.hint, found.facts)] : [];
  const files = found.files.flatMap(({ id, now, proposed }) => [
    words.accept(out.hint, id),
    ...diff(now, proposed).map(({ mark, text }) => out.paint(`  ${mark} ${visible(text)}`, TONES[mark])),
  ]);
  out.say(...files, ...facts, ...(files.length + facts.length ? [] : [words.noProposals]));
  return EXIT.done;
};

export const accept: Action = async ({ rpc, out }, [id = ""]) => {
  const done = await rpc.call("import.accept", { id });
  out.document(done);
  out.say(id === "facts" ? words.acceptedFacts(done.accepted) : words.replaced(id));
  return EXIT.done;
};

export const reject: Action = async ({ rpc, out }, [id = ""]) => {
  const done = await rpc.call("import.reject", { id });
  out.document(done);
  out.say(id === "facts" ? words.deletedFacts(done.rejected) : words.deleted(id));
  return EXIT.done;
};
