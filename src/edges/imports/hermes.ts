/**
 * A Hermes folder (`~/.hermes`): SOUL.md, memories/ with entries parted by "§", skills/ by category, cron/jobs.json, state.db with
 * sessions and messages, tokens of platforms in .env.
 */
import { join } from "node:path";
import { defined } from "../../core/kit/index.ts";
import { ForeignFolder } from "./files.ts";
import { factsIn, type ImportedLine, type ImportItem } from "./items.ts";
import { hermesDelivery, readIds } from "./people.ts";
import { hermesRows, NotPlain, type ReadSqlite } from "./store.ts";

type Fields = Record<string, unknown>;

export async function readHermes(dir: string, rows: ReadSqlite): Promise<ImportItem[]> {
  const folder = new ForeignFolder(dir);
  const agent = "main";
  const items: ImportItem[] = [{ what: "agent", from: dir, agent }];
  const add = (found: readonly ImportItem[]) => {
    for (const item of found) items.push(item);
  };
  const soul = join(dir, "SOUL.md");
  const who = (await folder.text(soul))?.trim();
  if (who) items.push({ what: "file", from: soul, agent, file: "SOUL.md", text: `${who}\n` });
  for (const [name, kind] of [
    ["MEMORY.md", "fact"],
    ["USER.md", "person"],
  ] as const) {
    const from = join(dir, "memories", name);
    for (const fact of splitEntries((await folder.text(from)) ?? ""))
      items.push({ what: "memory", from, agent, text: fact, kind });
  }
  for (const skill of await folder.skills(join(dir, "skills")))
    items.push({ what: "skill", from: skill.dir, agent, ...skill });
  const env = variablesIn((await folder.text(join(dir, ".env"))) ?? "");
  add(await readJobs(folder, agent, env));
  add(await readState(folder, agent, rows));
  add(channelsIn(join(dir, ".env"), env));
  for (const name of ["auth.json", "config.yaml"])
    if (await folder.isFile(join(dir, name)))
      items.push({
        what: "left out",
        from: join(dir, name),
        why: "Models and settings are not imported. Connect a model: lares onboard",
      });
  return [...items, ...folder.leftOut(items)];
}

/** Entries stand between lines with a section sign; without one the file is a list like any other. */
function splitEntries(text: string): string[] {
  const lines = text.split("\n");
  if (!text.includes("\n§") && !lines.some((line) => line.trim() === "§")) return factsIn(text);
  const entries: string[][] = [[]];
  for (const line of lines) {
    const bare = line.trimStart();
    if (bare.startsWith("§")) entries.push([bare.slice(1)]);
    else entries.at(-1)!.push(line);
  }
  return entries
    .map((entry) => entry.join(" ").replace(/\s+/g, " ").trim())
    .filter((entry) => entry !== "" && !entry.startsWith("#"));
}

async function readJobs(folder: ForeignFolder, agent: string, env: ReadonlyMap<string, string>): Promise<ImportItem[]> {
  const from = join(folder.dir, "cron", "jobs.json");
  const file = await folder.json(from);
  const jobs = Array.isArray(file) ? file : (file as Fields | undefined)?.jobs;
  if (!Array.isArray(jobs)) return [];
  return jobs.map((one: Fields): ImportItem => {
    const id = String(one.id ?? one.name ?? "job");
    const name = String(one.name ?? id);
    const when = readWhen(one.schedule);
    if (!when) return { what: "left out", from, why: `The schedule of the job "${name}" is not understood.` };
    if (typeof one.prompt !== "string" || one.prompt.trim() === "")
      return { what: "left out", from, why: `The job "${name}" runs a script, not an agent.` };
    const deliver = hermesDelivery(one, (channel) => env.get(`${channel.toUpperCase()}_HOME_CHANNEL`));
    return {
      what: "schedule",
      from,
      agent,
      id,
      name,
      when,
      prompt: one.prompt,
      enabled: one.enabled !== false,
      ...defined({ deliver }),
    };
  });
}

function readWhen(schedule: unknown): { cron?: string; every?: string; at?: string } | undefined {
  if (typeof schedule === "string") return words(schedule);
  const { kind, expr, minutes, run_at, value } = (schedule ?? {}) as Fields;
  if (kind === "cron" && typeof expr === "string") return { cron: expr };
  if (kind === "interval" && typeof minutes === "number") return { every: `${minutes} minutes` };
  if (kind === "once" && (typeof run_at === "string" || typeof run_at === "number"))
    return { at: typeof run_at === "number" ? new Date(run_at * 1000).toISOString() : run_at };
  return typeof value === "string" ? words(value) : undefined;
}

function words(text: string): { cron?: string; every?: string; at?: string } | undefined {
  const every = /^every\s+(\d+)\s*(m|min|minutes?|h|hours?|d|days?)$/i.exec(text.trim());
  const units: Record<string, string> = { m: "minutes", h: "hours", d: "days" };
  if (every) return { every: `${every[1]} ${units[every[2]![0]!.toLowerCase()]}` };
  if (/^(?:\S+\s+){4}\S+$/.test(text.trim())) return { cron: text.trim() };
  return Number.isFinite(Date.parse(text)) ? { at: new Date(text).toISOString() } : undefined;
}

async function readState(folder: ForeignFolder, agent: string, rows: ReadSqlite): Promise<ImportItem[]> {
  const from = join(folder.dir, "state.db");
  if (!(await folder.isFile(from))) return [];
  let found: Awaited<ReturnType<typeof hermesRows>>;
  try {
    found = await hermesRows(from, rows);
  } catch (error) {
    return [
      {
        what: "left out",
        from,
        why:
          error instanceof NotPlain
            ? error.message
            : `Its sessions could not be read: ${error instanceof Error ? error.message : error}.`,
      },
    ];
  }
  const said = new Map<string, ImportedLine[]>();
  for (const row of found.messages) {
    const text = plain(row.content);
    const session = String(row.session_id);
    if (!text) continue;
    const at = Number(row.timestamp);
    const line: ImportedLine = {
      role: row.role as ImportedLine["role"],
      text,
      at: Number.isFinite(at) ? Math.round(at * 1000) : 0,
    };
    const lines = said.get(session);
    if (lines) lines.push(line);
    else said.set(session, [line]);
  }
  return found.sessions.map((session): ImportItem => {
    const id = String(session.id);
    const messages = said.get(id);
    if (!messages) return { what: "left out", from, why: `The session ${id} holds no messages.` };
    const title = String(session.title ?? `${session.source ?? "session"} ${id}`);
    return { what: "session", from, agent, id, title, messages };
  });
}

/** Content is text, or JSON parts where a message carried more than text. */
function plain(content: unknown): string {
  if (typeof content !== "string") return "";
  if (!/^\s*\[\s*\{/.test(content)) return content.trim();
  try {
    const parts = JSON.parse(content) as { type?: string; text?: string }[];
    return parts
      .flatMap((part) => (part.type === "text" && part.text ? [part.text] : []))
      .join("\n")
      .trim();
  } catch {
    return content.trim();
  }
}

/** Variable → channel and our field. All of them are secrets. */
const TOKENS: Record<string, [channel: string, field: string]> = {
  TELEGRAM_BOT_TOKEN: ["telegram", "token"],
  DISCORD_BOT_TOKEN: ["discord", "token"],
  SLACK_BOT_TOKEN: ["slack", "botToken"],
  SLACK_APP_TOKEN: ["slack", "appToken"],
  MATTERMOST_TOKEN: ["mattermost", "token"],
  MATTERMOST_URL: ["mattermost", "url"],
  MATRIX_ACCESS_TOKEN: ["matrix", "token"],
  MATRIX_HOMESERVER: ["matrix", "homeserver"],
};
const OPEN = new Set(["url", "homeserver"]);

function channelsIn(from: string, env: ReadonlyMap<string, string>): ImportItem[] {
  const found = new Map<string, Record<string, string>>();
  for (const [name, value] of env) {
    const known = TOKENS[name];
    if (known) found.set(known[0], { ...found.get(known[0]), [known[1]]: value });
  }
  return [...found].map(([channel, settings]) => {
    const of = channel.toUpperCase();
    const allow = readIds(env.get(`${of}_ALLOWED_USERS`));
    const wasOpen = [`${of}_ALLOW_ALL_USERS`, "GATEWAY_ALLOW_ALL_USERS"].some((name) =>
      /^(1|true|yes)$/i.test(env.get(name) ?? ""),
    );
    return {
      what: "channel",
      from,
      channel,
      account: "main",
      settings,
      wasOpen,
      secrets: Object.keys(settings).filter((field) => !OPEN.has(field)),
      access: allow.length > 0 ? { dm: "allowlist", allow } : {},
    };
  });
}

/** Those with a value. */
function variablesIn(env: string): Map<string, string> {
  const all = new Map<string, string>();
  for (const line of env.split("\n")) {
    const equals = line.indexOf("=");
    const name = line
      .slice(0, Math.max(0, equals))
      .trim()
      .replace(/^export\s+/, "");
    const value = line
      .slice(equals + 1)
      .trim()
      .replace(/^(["'])(.*)\1$/, "$2");
    if (name && value !== "") all.set(name, value);
  }
  return all;
}
