/** `lares memory` around files: carrying facts, indexing folders, the nightly pass. */
import { resolve } from "node:path";
import { defined, truthy } from "../../../core/kit/index.ts";
import type { Params, Result } from "../../../core/protocol/index.ts";
import type { Action } from "../context.ts";
import { EXIT, usage } from "../exit.ts";
import { ago, oneLine, plural } from "../format.ts";
import { table } from "../output.ts";
import { readGiven } from "../read-all.ts";
import { memoryWords as words } from "../words/memory.ts";
import { writeOutput } from "../write-output.ts";
import { parseLines } from "./session-files.ts";

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
    found.entities.length ? words.names(found.entities.length) : words.noNames,
    ...table(
      found.entities.map((e) => [e.name, String(e.mentions), out.paint(e.scope, "dim")]),
      "  ",
    ),
    ...(found.relations.length ? [words.relations] : []),
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
  const file = await writeOutput(options.output, text);
  out.document({ facts: facts.length, file });
  out.note(words.written(facts.length, file));
  return EXIT.done;
};

export const importFacts: Action = async ({ rpc, out, ports, options }, [file = ""]) => {
  const facts = parseLines<Carried>(await readGiven(file, ports.stdin, out.note), file === "-" ? "stdin" : file, {
    empty: words.noFacts,
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
  const wait = sum.added && !options.trusted ? words.confirmThem(out.hint) : "";
  out.say(words.added(sum.added, sum.known, wait));
  return EXIT.done;
};

export const index: Action = async ({ rpc, out, options }, [given = ""]) => {
  const dir = resolve(given);
  if (options.remove) {
    const done = await rpc.call("memory.unindex", { dir });
    out.document(done);
    out.say(done.removed ? words.unindexed(dir) : words.notIndexed(dir));
    return EXIT.done;
  }
  const scope = typeof options.scope === "string" ? { scope: options.scope } : {};
  const report = await rpc.call("memory.index", { dir, ...scope });
  out.document(report);
  out.say(
    words.indexed(report.added, report.changed, report.removed, report.unchanged),
    ...report.skipped.map(({ path, why }) => out.paint(words.leftOut(path, why), "dim")),
  );
  return EXIT.done;
};

export const status: Action = async ({ rpc, out, clock }) => {
  const now = await rpc.call("memory.status", {});
  out.document(now);
  const { vectors } = now;
  const far = (of: { model: string; done: number; total: number; state: string; error?: string }) =>
    words.progress(of.model, of.done, of.total, of.state, of.error ? `: ${of.error}` : ".");
  out.say(
    words.holds(now.facts, now.documents, now.pending),
    vectors ? words.vectors(far(vectors)) : words.noVectors,
    ...(vectors?.next ? [words.newVectors(far(vectors.next)), words.oldUntil] : []),
    ...(now.waitingMessages ? [words.notSearchable(now.waitingMessages)] : []),
    ...now.backends.map((one) => words.backend(one)),
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
      condensations.length ? words.cleanUps : words.noCleanUps,
      ...condensations.flatMap((run) => [
        words.cleanUp(run.agent, ago(run.at, clock.now()), run.model, run.undoneAt !== undefined),
        ...changes(run),
      ]),
    );
    return EXIT.done;
  }
  if (options.undo) {
    const { condensations } = await rpc.call("memory.condensations", { ...agent, limit: 30 });
    const run = condensations.find((one) => one.undoneAt === undefined);
    if (!run) throw usage(words.noneToUndo, words.seeCleanUps);
    const done = await rpc.call("memory.condense.undo", { id: run.id });
    out.document(done.condensation);
    out.say(words.undone);
    return EXIT.done;
  }
  const { condensation } = await rpc.call("memory.condense", agent);
  out.document(condensation ?? {});
  out.say(...(condensation ? [words.condensed(out.hint), ...changes(condensation)] : [words.nothingToCondense]));
  return EXIT.done;
};

function changes(run: Condensation): string[] {
  return run.made.flatMap((one) => [...one.from.map((old) => `  - ${oneLine(old)}`), `  + ${oneLine(one.text)}`]);
}
