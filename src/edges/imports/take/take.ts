/**
 * Moving in: items read from another system's folder become agents, files, facts, skills, sessions, schedules and channel accounts.
 *
 * Each item has a name of its place in the source, so the same import again finds it there. Nothing that is already here is
 * overwritten; what cannot be taken is reported with the reason.
 *
 * IMPORT-1: a folder is not the owner, even if it was the owner's. Instructions become proposals (proposals.ts), facts wait for a
 *      decision, jobs are paused, conversations and skills are text from outside, channel accounts are not connected.
 */
import { lstat, realpath } from "node:fs/promises";
import { basename, relative } from "node:path";
import { AppError, assertNever, toAccountName, workKeys } from "../../../core/domain/index.ts";
import { guardedImport } from "../../../core/kit/index.ts";
import { readHermes } from "../hermes.ts";
import type { ImportItem } from "../items.ts";
import { readOpenClaw } from "../openclaw.ts";
import type { ImportPorts } from "../ports.ts";
import { takeChannel } from "./channel.ts";
import { takeAgent, takeFile, takeSkill } from "./folders.ts";
import { type ImportRun, type Outcome, reportSkipped } from "./outcome.ts";
import { takeMemory, takeSchedule, takeSession } from "./records.ts";

const READERS = { openclaw: readOpenClaw, hermes: readHermes };

export interface ImportRequest {
  from: keyof typeof READERS;
  /** Its folder on this machine; nothing in it is changed. */
  dir: string;
  /** Only tells what would become of each item. */
  dryRun: boolean;
  /** Also takes tokens of channel accounts; they go to the vault. */
  secrets: boolean;
}

/** What an item was, and the outcome. */
export interface ImportedItem extends Outcome {
  what: ImportItem["what"];
  from: string;
  name: string;
}

export function runImport(ports: ImportPorts, request: ImportRequest): Promise<ImportedItem[]> {
  return guardedImport(ports.guard, workKeys.import(request.from, request.dir), async () => {
    ports.crash.at("import.reading", () => request.dir);
    const folder = await findFolder(request);
    const found = await READERS[request.from](folder, ports.readSqlite(folder));
    const items: ImportedItem[] = [];
    for (const item of found) {
      const outcome = await take({ ...ports, ...request }, item).catch(failed);
      items.push({ what: item.what, from: relative(folder, item.from) || ".", name: nameItem(item), ...outcome });
    }
    return items;
  });
}

async function findFolder({ from, dir }: ImportRequest): Promise<string> {
  const folder = await realpath(dir).catch(() => undefined);
  if (folder && (await lstat(folder)).isDirectory()) return folder;
  throw new AppError("NOT_FOUND", {
    message: `There is no folder ${dir}.`,
    hint: `Name the folder of ${from}, on the machine where Lares runs, e.g. ~/.${from}`,
  });
}

function failed(error: unknown): Outcome {
  return { becomes: "", state: "failed", why: error instanceof Error ? error.message : String(error) };
}

async function take(run: ImportRun, item: ImportItem): Promise<Outcome> {
  switch (item.what) {
    case "left out":
      return reportSkipped(item.why);
    case "agent":
      return takeAgent(run, item);
    case "file":
      return takeFile(run, item);
    case "memory":
      return takeMemory(run, item);
    case "skill":
      return takeSkill(run, item);
    case "session":
      return takeSession(run, item);
    case "schedule":
      return takeSchedule(run, item);
    case "channel":
      return takeChannel(run, item);
    default:
      return assertNever(item);
  }
}

function nameItem(item: ImportItem): string {
  switch (item.what) {
    case "agent":
      return item.agent;
    case "file":
      return item.file;
    case "memory":
      return item.text.length > 80 ? `${item.text.slice(0, 79)}…` : item.text;
    case "skill":
    case "schedule":
      return item.name;
    case "session":
      return `${item.title} (${item.messages.length} messages)`;
    case "channel":
      return toAccountName(item);
    case "left out":
      return basename(item.from);
    default:
      return assertNever(item);
  }
}
