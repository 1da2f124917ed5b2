/**
 * An OpenClaw folder (`~/.openclaw`): openclaw.json, the agents' workspaces, transcripts as JSON Lines, cron/jobs.json. Newer
 * releases keep transcripts and jobs in SQLite (openclaw-databases.ts); folders that saw both are read from both, the same session once.
 */
import { isAbsolute, join, relative } from "node:path";
import { setImmediate } from "node:timers/promises";
import { asObject, toAccountName } from "../../core/domain/index.ts";
import { defined, truthy } from "../../core/kit/index.ts";
import { ForeignFolder, LARGEST_TRANSCRIPT } from "./files.ts";
import { agentName, factsIn, type ImportedLine, type ImportItem } from "./items.ts";
import { readAgentDatabase, readStateDatabase } from "./openclaw-databases.ts";
import { isOpen, openClawAccess, openClawDelivery } from "./people.ts";
import type { ReadSqlite } from "./store.ts";

type Fields = Record<string, unknown>;

export async function readOpenClaw(dir: string, read: ReadSqlite): Promise<ImportItem[]> {
  const folder = new ForeignFolder(dir);
  const config = asObject(await folder.json(join(dir, "openclaw.json")));
  const items: ImportItem[] = [];
  // One by one: a spread of a hundred thousand facts overflows the stack.
  const add = (found: readonly ImportItem[]) => {
    for (const item of found) items.push(item);
  };
  const agents = await findAgents(folder, config);
  for (const { id, workspace, elsewhere } of agents) {
    const agent = agentName(id);
    const place = join(dir, "agents", id);
    items.push({ what: "agent", from: workspace ?? place, agent });
    if (workspace) add(await readWorkspace(folder, workspace, agent));
    if (elsewhere) items.push(notRead(elsewhere, join(dir, `workspace-${id}`)));
    const stored = await readAgentDatabase(folder, place, { agent, read, transcript });
    add(once(stored, await readSessions(folder, place, agent)));
  }
  const main = agentName(agents[0]!.id);
  for (const skill of await folder.skills(join(dir, "skills")))
    items.push({ what: "skill", from: skill.dir, agent: main, ...skill });
  const jobs = await readStateDatabase(folder, read, (from, job) => jobItem(from, job, main));
  add(once(jobs, await readJobs(folder, main)));
  add(readChannels(dir, config));
  for (const name of [...(await folder.files(dir)), ...(await folder.folders(dir))]) {
    if (READ.has(name) || name.startsWith("workspace")) continue;
    const why = /^(credentials|auth-profiles\.json|identity|devices)$/.test(name)
      ? "Logins of models are not imported. Connect one: lares onboard"
      : "It belongs to the program itself, or is not known here.";
    items.push({ what: "left out", from: join(dir, name), why });
  }
  return [...items, ...folder.leftOut(items)];
}

/** The names of all sessions, in one file. */
const LARGEST_INDEX = 16 * 1024 * 1024;
/** Characters of a transcript that are read without a break: a few milliseconds. */
const AT_A_TIME = 128 * 1024;
/** A file that begins with so many lines that are no messages is no transcript; trying each line takes its time. */
const MOST_UNREADABLE = 1000;
/** What is looked at above, in the folder itself. */
const READ: ReadonlySet<string> = new Set(["openclaw.json", "agents", "cron", "skills", "state"]);
/** Files of a workspace that are looked at, and folders. */
const KNOWN_FILES: ReadonlySet<string> = new Set(
  ["SOUL", "IDENTITY", "AGENTS", "TOOLS", "HEARTBEAT", "USER", "MEMORY", "memory", "BOOTSTRAP"].map((n) => `${n}.md`),
);
const KNOWN_FOLDERS: ReadonlySet<string> = new Set(["memory", "skills"]);

interface FoundAgent {
  id: string;
  workspace?: string;
  /** Where the settings say its workspace is, when that is not in this folder. */
  elsewhere?: string;
}

async function findAgents(folder: ForeignFolder, config: Fields): Promise<FoundAgent[]> {
  const { dir } = folder;
  const agents = asObject(config.agents);
  const usual = text(asObject(agents.defaults).workspace) ?? text(asObject(config.agent).workspace);
  const home = (path: string) => path.replace(/^~\/\.openclaw(?=\/|$)/, dir).replace(/^\$OPENCLAW_STATE_DIR/, dir);
  const list = Array.isArray(agents.list) ? agents.list.map(asObject) : [];
  const named = list.flatMap((one) => {
    const id = text(one.id);
    return id ? [{ id, workspace: text(one.workspace) }] : [];
  });
  const known = new Map<string, string | undefined>(named.map((one) => [one.id, one.workspace]));
  for (const id of await folder.folders(join(dir, "agents"))) if (!known.has(id)) known.set(id, undefined);
  if (known.size === 0) known.set("main", undefined);
  const found: FoundAgent[] = [];
  for (const [n, [id, given]] of [...known].entries()) {
    const named = given ?? (n === 0 ? usual : undefined);
    const places = [
      ...(named ? [home(named)] : []),
      join(dir, `workspace-${id}`),
      ...(n === 0 ? [join(dir, "workspace")] : []),
    ];
    let workspace: string | undefined;
    for (const path of places) if (workspace === undefined && (await folder.isFolder(path))) workspace = path;
    const elsewhere = named && !workspace && isElsewhere(dir, home(named)) ? { elsewhere: home(named) } : {};
    found.push({ id, ...truthy({ workspace }), ...elsewhere });
  }
  return found;
}

function isElsewhere(dir: string, path: string): boolean {
  const way = relative(dir, path);
  return way.startsWith("..") || isAbsolute(way);
}

/** The settings may be a stranger's: they must not choose which folders of this machine are read. */
function notRead(workspace: string, instead: string): ImportItem {
  const why = `Only the folder you named is read, and this workspace is not in it. To import it, copy it to ${instead} and import again.`;
  return { what: "left out", from: workspace, why };
}

async function readWorkspace(folder: ForeignFolder, dir: string, agent: string): Promise<ImportItem[]> {
  const items: ImportItem[] = [];
  const read = async (name: string) => ({ path: join(dir, name), text: (await folder.text(join(dir, name)))?.trim() });
  const [soul, identity, agents, tools] = await Promise.all(
    ["SOUL.md", "IDENTITY.md", "AGENTS.md", "TOOLS.md"].map(read),
  );
  const joined = (parts: ({ text: string | undefined } | undefined)[]) =>
    parts.flatMap((part) => (part?.text ? [part.text] : [])).join("\n\n");
  if (joined([soul, identity]))
    items.push({ what: "file", from: soul!.path, agent, file: "SOUL.md", text: `${joined([soul, identity])}\n` });
  if (joined([agents, tools]))
    items.push({ what: "file", from: agents!.path, agent, file: "AGENTS.md", text: `${joined([agents, tools])}\n` });
  const beat = await read("HEARTBEAT.md");
  if (beat.text) items.push({ what: "file", from: beat.path, agent, file: "HEARTBEAT.md", text: `${beat.text}\n` });
  for (const [name, kind] of [
    ["USER.md", "person"],
    ["MEMORY.md", "fact"],
    ["memory.md", "fact"],
  ] as const) {
    const { path, text: found } = await read(name);
    for (const fact of factsIn(found ?? "")) items.push({ what: "memory", from: path, agent, text: fact, kind });
  }
  for (const name of await folder.files(join(dir, "memory"))) {
    const path = join(dir, "memory", name);
    const day = /^(\d{4}-\d{2}-\d{2}).*\.md$/.exec(name)?.[1];
    if (!day && !name.endsWith(".md")) {
      items.push({ what: "left out", from: path, why: "It isn't a note." });
      continue;
    }
    const at = day ? { at: Date.parse(`${day}T12:00:00Z`) } : {};
    for (const fact of factsIn((await folder.text(path)) ?? ""))
      items.push({ what: "memory", from: path, agent, text: fact, kind: day ? "episode" : "fact", ...at });
  }
  for (const skill of await folder.skills(join(dir, "skills")))
    items.push({ what: "skill", from: skill.dir, agent, ...skill });
  for (const name of [
    ...(await folder.files(dir)).filter((one) => !KNOWN_FILES.has(one)),
    ...(await folder.folders(dir)).filter((one) => !KNOWN_FOLDERS.has(one)),
  ])
    items.push({
      what: "left out",
      from: join(dir, name),
      why: `The agent's own work: copy what you need to agents/${agent}/workspace.`,
    });
  if (await folder.isFile(join(dir, "BOOTSTRAP.md")))
    items.push({ what: "left out", from: join(dir, "BOOTSTRAP.md"), why: "It is only used at the first start." });
  return items;
}

async function readSessions(folder: ForeignFolder, dir: string, agent: string): Promise<ImportItem[]> {
  const items: ImportItem[] = [];
  const place = join(dir, "sessions");
  const names = await folder.files(place);
  const index = asObject(await folder.json(join(place, "sessions.json"), LARGEST_INDEX));
  const keys = new Map(Object.entries(index).map(([key, entry]) => [text(asObject(entry).sessionId) ?? "", key]));
  for (const name of names.filter((one) => one.endsWith(".jsonl"))) {
    const from = join(place, name);
    const id = name.slice(0, -".jsonl".length);
    const lines = await folder.text(from, LARGEST_TRANSCRIPT);
    if (lines === undefined) continue;
    const messages = await transcript(lines);
    if (messages.length > 0) items.push({ what: "session", from, agent, id, title: keys.get(id) ?? id, messages });
    else items.push({ what: "left out", from, why: "It holds no messages." });
  }
  for (const name of names.filter((one) => one.includes(".jsonl.")))
    items.push({ what: "left out", from: join(place, name), why: "A conversation that was reset or deleted there." });
  return items;
}

/** What is in a database and in an older file is the same thing: the database's is newer. */
function once(newer: readonly ImportItem[], older: readonly ImportItem[]): ImportItem[] {
  const ids = new Set(newer.flatMap((item) => ("id" in item ? [item.id] : [])));
  return [
    ...newer,
    ...older.map((item): ImportItem => {
      if (!("id" in item) || !ids.has(item.id)) return item;
      return { what: "left out", from: item.from, why: `${item.id} is taken from the database, where it went on.` };
    }),
  ];
}

/** Messages of people and the agent; tool calls, thoughts and markers are not part of what was said. */
async function transcript(lines: string): Promise<ImportedLine[]> {
  const messages: ImportedLine[] = [];
  let [rested, unreadable] = [0, 0];
  for (let from = 0, to = 0; from < lines.length; from = to + 1) {
    to = lines.indexOf("\n", from);
    if (to < 0) to = lines.length;
    // A long life in one go would keep everybody else waiting.
    if (to - rested > AT_A_TIME) {
      rested = to;
      await setImmediate();
    }
    const line = lines.slice(from, to);
    if (!line.trim()) continue;
    const read = looseLine(line);
    if (read === undefined && ++unreadable > MOST_UNREADABLE && messages.length === 0) return [];
    const entry = asObject(read);
    const message = asObject(entry.message ?? entry);
    const role = message.role;
    if (role !== "user" && role !== "assistant") continue;
    const said = saidIn(message.content);
    const when = entry.timestamp ?? message.timestamp;
    const at = typeof when === "number" ? when : Date.parse(String(when ?? ""));
    if (said) messages.push({ role, text: said, at: Number.isFinite(at) ? at : 0 });
  }
  return messages;
}

function saidIn(content: unknown): string {
  if (typeof content === "string") return content.trim();
  if (!Array.isArray(content)) return "";
  return content
    .map(asObject)
    .flatMap((part) => (part.type === "text" && typeof part.text === "string" ? [part.text] : []))
    .join("\n")
    .trim();
}

async function readJobs(folder: ForeignFolder, main: string): Promise<ImportItem[]> {
  const from = join(folder.dir, "cron", "jobs.json");
  const file = await folder.json(from);
  const jobs = Array.isArray(file) ? file : asObject(file).jobs;
  return Array.isArray(jobs) ? jobs.map((job) => jobItem(from, asObject(job), main)) : [];
}

function jobItem(from: string, job: Fields, main: string): ImportItem {
  const id = text(job.id) ?? text(job.jobId) ?? "job";
  const name = text(job.name) ?? id;
  const schedule = asObject(job.schedule);
  const payload = asObject(job.payload);
  const prompt = text(payload.message) ?? text(payload.text);
  const when = readWhen(schedule);
  if (!when) return { what: "left out", from, why: `The job "${name}" has a schedule of kind "${schedule.kind}".` };
  if (!prompt)
    return { what: "left out", from, why: `The job "${name}" runs a ${payload.kind ?? "program"}, not an agent.` };
  const agent = text(job.agentId) ? agentName(text(job.agentId)!) : main;
  const deliver = openClawDelivery(job, agentName);
  return {
    what: "schedule",
    from,
    agent,
    id,
    name,
    when,
    prompt,
    enabled: job.enabled !== false,
    ...defined({ deliver }),
  };
}

function readWhen(schedule: Fields): { cron?: string; zone?: string; every?: string; at?: string } | undefined {
  const zone = text(schedule.tz) ?? text(schedule.timezone);
  const cron = text(schedule.expr) ?? text(schedule.cron);
  if (cron) return zone ? { cron, zone } : { cron };
  if (typeof schedule.everyMs === "number")
    return { every: `${Math.max(1, Math.round(schedule.everyMs / 1000))} seconds` };
  const at =
    text(schedule.at) ?? (typeof schedule.atMs === "number" ? new Date(schedule.atMs).toISOString() : undefined);
  return at ? { at } : undefined;
}

/** Their field → ours; a star marks a secret. */
const CHANNELS: Record<string, Record<string, string>> = {
  telegram: { botToken: "token*" },
  discord: { token: "token*", botToken: "token*" },
  slack: { botToken: "botToken*", appToken: "appToken*", signingSecret: "signingSecret*" },
  mattermost: { botToken: "token*", baseUrl: "url" },
  matrix: { accessToken: "token*", homeserver: "homeserver" },
  signal: { account: "number", httpUrl: "url" },
};

/** Channels that are here and are set up another way, under our names. */
const SET_UP_HERE: Readonly<Record<string, string>> = {
  whatsapp: "whatsapp-web",
  msteams: "teams",
  irc: "irc",
  nostr: "nostr",
  email: "email",
  xmpp: "xmpp",
};

function whyLeftOut(channel: string): string {
  const ours = Object.hasOwn(SET_UP_HERE, channel) ? SET_UP_HERE[channel] : undefined;
  return ours === undefined
    ? `There is no channel "${channel}" here.`
    : `${channel} is set up differently here. Connect it: lares channels add ${ours}`;
}

function readChannels(dir: string, config: Fields): ImportItem[] {
  const from = join(dir, "openclaw.json");
  return Object.entries(asObject(config.channels)).flatMap(([channel, given]): ImportItem[] => {
    const known = CHANNELS[channel];
    const whole = asObject(given);
    const accounts = Object.entries(asObject(whole.accounts));
    if (channel === "defaults") return [];
    if (!known) return [{ what: "left out", from, why: whyLeftOut(channel) }];
    return (accounts.length > 0 ? accounts : [["main", whole] as const]).map(([account, one]): ImportItem => {
      const own = { ...whole, ...asObject(one) };
      const settings: Record<string, string> = {};
      const secrets: string[] = [];
      for (const [theirs, ours] of Object.entries(known)) {
        const value = text(own[theirs]);
        const name = ours.replace("*", "");
        if (value === undefined || settings[name] !== undefined) continue;
        settings[name] = value;
        if (ours.endsWith("*")) secrets.push(name);
      }
      if (Object.keys(settings).length === 0)
        return { what: "left out", from, why: `${toAccountName({ channel, account })} has no settings of its own.` };
      return {
        what: "channel",
        from,
        channel,
        account: agentName(account),
        settings,
        secrets,
        access: openClawAccess(own),
        wasOpen: isOpen(own),
      };
    });
  });
}

function looseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}
