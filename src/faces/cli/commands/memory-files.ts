/** `lares memory` around files: carrying facts, indexing folders, the nightly pass. */
import { resolve } from "node:path";
import { defined, truthy } from "../../../core/kit/index.ts";
import type { Params, Result } from "../../../core/protocol/index.ts";
import type { Action } from "../context.ts";
import { EXIT, usage } from "../exit.ts";
import { ago, oneLine, plural } from "../format.ts";
import { table } from "../output.ts";
import { readGiven } from "../read-all.ts";
import { parseLines, replace } from "./session-files.ts";

type Carried = Params<"memory.import">["facts"][number];
type Condensation = Result<"memory.condensations">["condensations"][number];

/** Facts of one request. */
const PAGE = 500;

export const graph: Action = async ({ rpc, out, options }) => {
  const asked = {
    ...(typeof options.limit === "number" ? { limit: options.limit } : {}),
    ...(typeof options.scope === "string" ? { scope: options.scope } : {}),
  };
  const found = await rpc.call("memory.graph", asked);
  out.document(found);
  out.say(
    found.entities.length ? `${plural(found.entities.length, "name")}, most mentioned first.` : "No names known.",
    ...table(
      found.entities.map((e) => [e.name, String(e.mentions), out.paint(e.scope, "dim")]),
      "  ",
    ),
    ...(found.relations.length ? ["How they relate:"] : []),
    ...found.relations.map((r) => `  ${r.subject} ${out.paint(r.relation, "dim")} ${r.object}`),
  );
  return EXIT.done;
};

export const exportFacts: Action = async ({ rpc, out, options }) => {
  const facts: Carried[] = [];
  for (let after: string | undefined; ; ) {
    const page = await rpc.call("memory.export", { limit: PAGE, ...defined({ after }) });
    facts.push(...page.facts);
    if (page.facts.length < PAGE) break;
    after = page.facts.at(-1)!.id;
  }
  const text = facts.map((fact) => `${JSON.stringify(fact)}\n`).join("");
  if (options.output === undefined || options.output === "-") {
    out.raw(text);
    return EXIT.done;
  }
  const file = resolve(options.output);
  await replace(file, text);
  out.document({ facts: facts.length, file });
  out.note(`${plural(facts.length, "fact")} written to ${file}.`);
  return EXIT.done;
};

export const importFacts: Action = async ({ rpc, out, ports, options }, [file = ""]) => {
  const facts = parseLines<Carried>(await readGiven(file, ports.stdin, out.note), file === "-" ? "stdin" : file, {
    empty: "Create one: lares memory export -o FILE",
  });
  const sum = { added: 0, known: 0 };
  for (let n = 0; n < facts.length; n += PAGE) {
    const done = await rpc.call("memory.import", {
      facts: facts.slice(n, n + PAGE),
      ...truthy({ trusted: options.trusted }),
    });
    sum.added += done.added;
    sum.known += done.known;
  }
  out.document(sum);
  const wait = sum.added && !options.trusted ? out.hint` Confirm them: lares memory pending` : "";
  out.say(`${plural(sum.added, "fact")} added${sum.known ? `; ${sum.known} already known` : ""}.${wait}`);
  return EXIT.done;
};

export const index: Action = async ({ rpc, out, options }, [given = ""]) => {
  const dir = resolve(given);
  if (options.remove) {
    const done = await rpc.call("memory.unindex", { dir });
    out.document(done);
    out.say(done.removed ? `Removed the documents in ${dir} from memory.` : `${dir} isn't indexed.`);
    return EXIT.done;
  }
  const scope = typeof options.scope === "string" ? { scope: options.scope } : {};
  const report = await rpc.call("memory.index", { dir, ...scope });
  out.document(report);
  out.say(
    `${report.added} added, ${report.changed} changed, ${report.removed} removed, ${report.unchanged} unchanged. Lares now watches the folder.`,
    ...report.skipped.map(({ path, why }) => `  ${out.paint(`left out: ${path} (${why})`, "dim")}`),
  );
  return EXIT.done;
};

export const status: Action = async ({ rpc, out, clock }) => {
  const now = await rpc.call("memory.status", {});
  out.document(now);
  const { vectors } = now;
  const far = (of: { model: string; done: number; total: number; state: string; error?: string }) =>
    `(${of.model}): ${of.done} of ${of.total}, ${of.state}${of.error ? `: ${of.error}` : "."}`;
  out.say(
    `${plural(now.facts, "fact")}, ${plural(now.documents, "piece")} of documents${now.pending ? `, ${now.pending} to confirm` : ""}.`,
    vectors ? `Vectors ${far(vectors)}` : "No vectors: search uses words only (memory.embedder.use is off).",
    ...(vectors?.next ? [`New vectors ${far(vectors.next)}`, "Until they're ready, search uses the old ones."] : []),
    ...(now.waitingMessages ? [`${plural(now.waitingMessages, "message")} not searchable yet.`] : []),
    ...now.folders.map((f) => `  ${f.dir}  ${plural(f.files, "file")}, ${ago(f.at, clock.now())}`),
  );
  return EXIT.done;
};

export const condense: Action = async (ctx) => {
  const { rpc, out, options, clock } = ctx;
  const agent = typeof options.agent === "string" ? { agent: options.agent } : {};
  if (options.list) {
    const { condensations } = await rpc.call("memory.condensations", agent);
    out.items(condensations);
    out.say(
      condensations.length ? "Clean-ups, newest first." : "No clean-up has changed anything yet.",
      ...condensations.flatMap((run) => [
        `${run.agent}, ${ago(run.at, clock.now())}, ${run.model ?? "by rules"}${run.undoneAt ? ", undone" : ""}`,
        ...changes(run),
      ]),
    );
    return EXIT.done;
  }
  if (options.undo) {
    const { condensations } = await rpc.call("memory.condensations", { ...agent, limit: 30 });
    const run = condensations.find((one) => one.undoneAt === undefined);
    if (!run) throw usage("There is no clean-up to undo.", "See: lares memory condense --list");
    const done = await rpc.call("memory.condense.undo", { id: run.id });
    out.document(done.condensation);
    out.say("Undone. The facts and MEMORY.md are as they were before.");
    return EXIT.done;
  }
  const { condensation } = await rpc.call("memory.condense", agent);
  out.document(condensation ?? {});
  out.say(
    ...(condensation
      ? [out.hint`Condensed. Undo: lares memory condense --undo`, ...changes(condensation)]
      : ["Nothing to condense."]),
  );
  return EXIT.done;
};

function changes(run: Condensation): string[] {
  return run.made.flatMap((one) => [...one.from.map((old) => `  - ${oneLine(old)}`), `  + ${oneLine(one.text)}`]);
}
