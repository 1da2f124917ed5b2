/** Takes what becomes rows: facts, conversations, jobs. */
import { basename } from "node:path";
import {
  factSources,
  type HistoryEntry,
  importedTurn,
  messageIds,
  sessionKeys,
  toAccountName,
} from "../../../core/domain/index.ts";
import { defined, quoted, truthy } from "../../../core/kit/index.ts";
import {
  type ImportRun,
  type ItemOf,
  makeUnlessDryRun,
  type Outcome,
  reportExisting,
  reportSkipped,
  shortHash,
} from "./outcome.ts";

export async function takeMemory(run: ImportRun, item: ItemOf<"memory">): Promise<Outcome> {
  const { from, facts } = run;
  const id = `mem_imp${shortHash(`${from}\n${item.agent}\n${basename(item.from)}\n${item.text}`)}`;
  const becomes = `memory of ${item.agent} (${item.kind})`;
  if (await facts.get(id)) return reportExisting(becomes);
  if (await facts.wasForgotten(item.text)) return reportSkipped("It was forgotten here on purpose.");
  return makeUnlessDryRun(run, becomes, () =>
    facts.add({
      id,
      text: item.text,
      kind: item.kind,
      agent: item.agent,
      trust: "outside",
      pending: `It was imported from ${from}.`,
      source: factSources.import(from, basename(item.from)),
      ...defined({ at: item.at }),
    }),
  );
}

export async function takeSession(run: ImportRun, item: ItemOf<"session">): Promise<Outcome> {
  const { from, sessions, clock } = run;
  const session = sessionKeys.imported(item.agent, from, item.id.replace(/[^\w.-]/g, "_"));
  const lines = item.messages.map((message, n): HistoryEntry => {
    const id = messageIds.imported(from, shortHash(`${item.agent}/${item.id}`), n);
    const content = [{ type: "text" as const, text: message.text }];
    const at = message.at || clock.now();
    return { session, seq: n + 1, id, turn: importedTurn(item.id), role: message.role, content, at };
  });
  const known = await sessions.count(session);
  if (known !== undefined && known >= lines.length) return reportExisting(session);
  return makeUnlessDryRun(run, session, async () => {
    await sessions.add({ session, agent: item.agent }, lines);
    if (known === undefined) await sessions.rename(session, item.title);
  });
}

export async function takeSchedule(run: ImportRun, item: ItemOf<"schedule">): Promise<Outcome> {
  const { from, jobs, clock } = run;
  const createdBy = `import ${from} ${item.id}`;
  const present = await jobs.list();
  const known = present.find((job) => job.createdBy === createdBy);
  if (known) return reportExisting(`schedule ${known.name}`);
  const name = present.some((job) => job.name === item.name) ? `${item.name} (${from})` : item.name;
  if (item.when.at !== undefined && Date.parse(item.when.at) < clock.now())
    return reportSkipped("Its time has passed.");
  jobs.check(item.when);
  const { deliver } = item;
  const where = deliver ? ` It answers in ${toAccountName(deliver)}, ${deliver.chat}.` : "";
  // The command comes last and whole: it is there to be copied, and the name is somebody else's.
  const why = `Paused.${where} Read what it does, then: lares schedule update ${quoted(name)} --resume`;
  return makeUnlessDryRun(
    run,
    `schedule ${name}`,
    () =>
      jobs.add({
        ...item.when,
        name,
        prompt: item.prompt,
        agent: item.agent,
        enabled: false,
        createdBy,
        ...truthy({ route: deliver }),
      }),
    why,
  );
}
