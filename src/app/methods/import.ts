/**
 * Moving in: items read from another system's folder become agents, files, facts, skills, sessions, schedules and channel accounts.
 *
 * Each item has a name of its place in the source, so the same import again finds it there. Nothing that is already here is
 * overwritten; what cannot be taken is told with the reason.
 *
 * IMPORT-1: a folder is not the owner, whoever it belonged to. Instructions become proposals (import-proposals.ts), facts wait for a
 *      decision, jobs are paused, conversations and skills are text from outside, channel accounts are not connected.
 */

import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { lstat, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import {
  type AgentId,
  AppError,
  asId,
  assertNever,
  type HistoryEntry,
  importedTurn,
  type Json,
  type JsonObject,
  messageIds,
  sessionKeys,
} from "../../core/domain/index.ts";
import {
  copyBelow,
  copyTree,
  filesBelow,
  kindBelow,
  removeTree,
  renameBelow,
  textBelow,
  writeBelow,
} from "../../core/files/index.ts";
import { defined, trimCharacters, truthy } from "../../core/kit/index.ts";
import type { Result } from "../../core/protocol/index.ts";
import type { ImportItem, ReadSqlite } from "../../edges/imports/index.ts";
import type { Handlers } from "../../faces/gateway/index.ts";
import { openDatabase } from "../../ground/records/index.ts";
import type { Vault } from "../../ground/vault/index.ts";
import { markRead } from "../../mind/memory/index.ts";
import { ORIGIN_FILE } from "../../mind/skills/index.ts";
import type { LaresSettings } from "../config.ts";
import type { MethodParts } from "./parts.ts";

type Told = Result<"import.run">["items"][number];
type Outcome = Pick<Told, "becomes" | "state"> & { why?: string };

export interface ImportParts extends Pick<MethodParts, "home" | "instance" | "clock"> {
  settings: LaresSettings;
  vault: Vault;
}

/** A skill with more is a project. */
const MOST_SKILL = { most: 50 * 1024 * 1024, depth: 24, closed: new Set([".git", "node_modules"]) };
const MOST_SKILL_FILES = 5000;
/** Years of conversations; a copy of it goes to the temporary folder. */
const MOST_DATABASE_BYTES = 1024 * 1024 * 1024;
/** An agent's file of instructions. */
const MOST_FILE_BYTES = 1024 * 1024;

export function makeImportMethods(parts: ImportParts): Pick<Handlers, "import.run"> {
  return {
    async "import.run"({ from, dir, dryRun = false, secrets = false }) {
      const folder = await realpath(dir).catch(() => undefined);
      if (!folder || !(await lstat(folder)).isDirectory())
        throw new AppError("NOT_FOUND", {
          message: `There is no folder ${dir}.`,
          hint: `Name the folder of ${from}, on the machine where Lares runs, e.g. ~/.${from}`,
        });
      const { readHermes, readOpenClaw } = await import("../../edges/imports/index.ts");
      const read = from === "openclaw" ? readOpenClaw : readHermes;
      const found = await read(folder, readSqlite(folder));
      const take = taker({ ...parts, from, dryRun, secrets });
      const items: Told[] = [];
      for (const item of found) {
        const told = { what: item.what, from: relative(folder, item.from) || ".", name: nameOf(item) };
        const outcome = await take(item).catch((error: unknown): Outcome => {
          return { becomes: "", state: "failed", why: error instanceof Error ? error.message : String(error) };
        });
        items.push({ ...told, ...outcome });
      }
      return { items, dryRun };
    },
  };
}

function taker(
  parts: ImportParts & { from: string; dryRun: boolean; secrets: boolean },
): (item: ImportItem) => Promise<Outcome> {
  const { dryRun, from } = parts;
  const instance = () => parts.instance();
  const there = (becomes: string): Outcome => ({ becomes, state: "there already" });
  const made = async (becomes: string, make: () => Promise<unknown>, why?: string): Promise<Outcome> => {
    if (!dryRun) await make();
    return { becomes, state: "new", ...truthy({ why }) };
  };
  return async (item) => {
    switch (item.what) {
      case "left out":
        return { becomes: "", state: "left out", why: item.why };
      case "agent": {
        const becomes = `agents/${item.agent}`;
        const known = instance().agents.exists(asId<AgentId>(item.agent));
        return known ? there(becomes) : made(becomes, async () => instance().agents.ensure(asId<AgentId>(item.agent)));
      }
      case "file":
        return takeFile(item);
      case "memory":
        return takeMemory(item);
      case "skill":
        return takeSkill(item);
      case "session":
        return takeSession(item);
      case "schedule":
        return takeSchedule(item);
      case "channel":
        return takeChannel(item);
      default:
        return assertNever(item);
    }
  };

  async function takeFile(item: ImportItem & { what: "file" }): Promise<Outcome> {
    const agent = asId<AgentId>(item.agent);
    const becomes = `agents/${item.agent}/${item.file}`;
    const { agents } = instance();
    const now = agents.exists(agent) ? (await agents.readFile(agent, item.file)).text : "";
    if (now.trim() === item.text.trim()) return there(becomes);
    // Instructions are the owner's to give: they wait as a proposal, also where the file is still as it was made.
    const beside = `agents/${item.agent}/imported/${item.file}`;
    const place = { root: join(parts.home, "agents", item.agent), path: `imported/${item.file}` };
    const why = `A proposal. Read it with: lares import proposals; take it with: lares import accept ${item.agent}/${item.file}`;
    const known = await textBelow({ ...place, most: MOST_FILE_BYTES });
    if (known?.trim() === item.text.trim()) return there(beside);
    const content = item.text;
    return made(beside, () => writeBelow({ ...place, content, tag: `import ${beside}`, mode: 0o600 }), why);
  }

  async function takeMemory(item: ImportItem & { what: "memory" }): Promise<Outcome> {
    const id = `mem_imp${hash(`${from}\n${item.agent}\n${basename(item.from)}\n${item.text}`)}`;
    const becomes = `memory of ${item.agent} (${item.kind})`;
    const { memory } = instance().memory;
    if (await memory.get(id)) return there(becomes);
    if (await memory.wasForgotten(item.text))
      return { becomes: "", state: "left out", why: "It was forgotten here on purpose." };
    const pending = `It was imported from ${from}.`;
    return made(becomes, () =>
      memory.add({
        ...{ id, text: item.text, kind: item.kind, agent: item.agent, trust: "outside" as const, pending },
        source: `import:${from}:${basename(item.from)}`,
        ...defined({ at: item.at }),
      }),
    );
  }

  async function takeSkill(item: ImportItem & { what: "skill" }): Promise<Outcome> {
    const name = skillName(item.name);
    const becomes = `agents/${item.agent}/skills/${name}`;
    const root = join(parts.home, "agents", item.agent);
    if ((await kindBelow({ root, path: `skills/${name}` })) !== "missing") return there(becomes);
    const { files, more } = await filesBelow(item.dir, { ...MOST_SKILL, most: MOST_SKILL_FILES });
    if (more || files.reduce((sum, file) => sum + file.size, 0) > MOST_SKILL.most)
      return { becomes: "", state: "left out", why: "It is larger than 50 MB, or has more than 5,000 files." };
    const problem = await instance().skills.examine(item.dir, name);
    return made(
      becomes,
      async () => {
        // A hidden name is no skill yet.
        const draft = { root, path: `skills/.${name}.importing` };
        await removeTree(draft);
        // Links are left behind: one could point anywhere on this machine.
        await copyTree(item.dir, draft, MOST_SKILL);
        // Somebody else may have written it: it is read as text from outside until it is trusted by name.
        const origin = { root, path: `${draft.path}/${ORIGIN_FILE}` };
        await removeTree(origin);
        await writeBelow({ ...origin, content: `${JSON.stringify({ from })}\n`, tag: "origin", mode: 0o600 });
        await renameBelow({ ...draft, to: name });
      },
      problem ? `It cannot be used as it is: ${problem}` : "Not used until you allow it. See how: lares skills list",
    );
  }

  async function takeSession(item: ImportItem & { what: "session" }): Promise<Outcome> {
    const session = sessionKeys.imported(item.agent, from, item.id.replace(/[^\w.-]/g, "_"));
    const { sessions, records } = instance();
    const lines = item.messages.map((message, n): HistoryEntry => {
      const id = messageIds.imported(from, hash(`${item.agent}/${item.id}`), n);
      const content = [{ type: "text" as const, text: message.text }];
      const at = message.at || parts.clock.now();
      return { session, seq: n + 1, id, turn: importedTurn(item.id), role: message.role, content, at };
    });
    const known = await sessions.get(session).catch(() => undefined);
    if (known && known.messages >= lines.length) return there(session);
    return made(session, async () => {
      await sessions.import({ session, agent: item.agent }, lines);
      if (!known) await sessions.rename(session, item.title);
      // Facts of the past were taken there; here they come with the memory.
      await records.write((tx) => markRead(tx, session, lines.length, parts.clock.now()));
      instance().memory.messages.wake();
    });
  }

  async function takeSchedule(item: ImportItem & { what: "schedule" }): Promise<Outcome> {
    const createdBy = `import ${from} ${item.id}`;
    const { schedules } = instance();
    const jobs = await schedules.list();
    const known = jobs.find((job) => job.createdBy === createdBy);
    if (known) return there(`schedule ${known.name}`);
    const name = jobs.some((job) => job.name === item.name) ? `${item.name} (${from})` : item.name;
    if (item.when.at !== undefined && Date.parse(item.when.at) < parts.clock.now())
      return { becomes: "", state: "left out", why: "Its time has passed." };
    schedules.preview(item.when, 1);
    const why = `Paused. Read what it does and where it answers, then: lares schedule update ${JSON.stringify(name)} --resume`;
    return made(
      `schedule ${name}`,
      () =>
        schedules.add({
          ...item.when,
          ...{ name, prompt: item.prompt, agent: item.agent, enabled: false, createdBy },
          ...truthy({ route: item.deliver }),
        }),
      item.deliver
        ? `${why} It answers in ${item.deliver.channel}/${item.deliver.account}, ${item.deliver.chat}.`
        : why,
    );
  }

  async function takeChannel(item: ImportItem & { what: "channel" }): Promise<Outcome> {
    const becomes = `channels.${item.channel}.${item.account}`;
    const accounts = parts.settings.view.channels as unknown as Record<string, Record<string, unknown> | undefined>;
    if (accounts[item.channel]?.[item.account]) return there(becomes);
    if (item.secrets.length > 0 && !parts.secrets)
      return { becomes, state: "left out", why: "Its token is a secret: taken only with --with-secrets." };
    const why = [
      `Not connected yet: switch the old one off, then: lares config set ${becomes}.enabled true`,
      ...accessWords(item),
    ].join(" ");
    return made(
      becomes,
      async () => {
        const settings: Record<string, Json> = {
          ...item.settings,
          ...(item.access as JsonObject | undefined),
          enabled: false,
        };
        for (const field of item.secrets) {
          const name = `${item.channel}_${item.account}_${field}`.toUpperCase().replace(/[^A-Z0-9]+/g, "_");
          await parts.vault.set(name, item.settings[field]!);
          settings[field] = `vault:${name}`;
        }
        await parts.settings.change([[["channels", item.channel, item.account], settings]]);
      },
      why,
    );
  }
}

/** Read before it is switched on: these people may write to it from then on. */
function accessWords({ access = {}, wasOpen }: ImportItem & { what: "channel" }): string[] {
  const groups = Object.keys(access.groups ?? {});
  return [
    ...(access.allow?.length ? [`May write to it then: ${access.allow.join(", ")}.`] : []),
    ...(groups.length ? [`It listens in: ${groups.join(", ")}.`] : []),
    ...(wasOpen ? ["There it was open to everybody; here it is not."] : []),
  ];
}

/** From a copy: opening the original, even to read, would leave files beside it. */
const readSqlite =
  (root: string): ReadSqlite =>
  async (file, look) => {
    const dir = mkdtempSync(join(tmpdir(), "lares-import-"));
    try {
      const copy = join(dir, "copy.db");
      const most = MOST_DATABASE_BYTES;
      await copyBelow({ root, path: file, to: copy, most });
      const wal = `${file}-wal`;
      if ((await kindBelow({ root, path: wal })) === "file")
        await copyBelow({ root, path: wal, to: `${copy}-wal`, most });
      const db = await openDatabase(copy);
      try {
        return look((sql) => db.prepare(sql).all() as Record<string, unknown>[]);
      } finally {
        db.close();
      }
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  };

/** A name that can be a skill's: elsewhere they have capitals, spaces and underscores. */
function skillName(name: string): string {
  const dashed = name.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const plain = trimCharacters(dashed.slice(0, 64), "-");
  return plain || `skill-${hash(name).slice(0, 8)}`;
}

function nameOf(item: ImportItem): string {
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
      return `${item.channel}/${item.account}`;
    case "left out":
      return basename(item.from);
    default:
      return assertNever(item);
  }
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 20);
}
