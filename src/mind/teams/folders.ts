/**
 * Teams as folders in the home: `teams/<name>/team.yaml` says who is in it, `TEAM.md` how they work together. People edit both; what
 * they changed counts from the next look, a few seconds later at most.
 */
import { type AgentId, AppError, asId } from "../../core/domain/index.ts";
import { listBelow, readBelow, textBelow, writeBelow } from "../../core/files/index.ts";
import type { Clock, Crash } from "../../core/kit/index.ts";
import { readTeam, type Team } from "./definition.ts";
import type { TeamRooms } from "./rooms.ts";

export interface TeamFolderParts {
  /** The home. */
  home: string;
  /** Where the ready-made ones lie. */
  templates: string;
  clock: Clock;
  crash: Crash;
  agents: { exists(agent: AgentId): boolean; create(agent: AgentId, soul?: string): Promise<void> };
}

export interface NewTeam {
  id: string;
  /** A ready-made one. */
  template?: string | undefined;
  /** Else who is in it; the first is the lead. */
  members?: readonly { agent: string; role?: string | undefined }[] | undefined;
  title?: string | undefined;
}

export interface TeamTemplate {
  id: string;
  title: string;
  about: string;
  members: { agent: string; role: string }[];
}

const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;
const LOOK_AGAIN_MS = 2_000;
const LARGEST = 256_000;
/** More than anybody has; a folder full of something else must not be read whole. */
const MOST_TEAMS = 500;

/** What the rooms of teams do with messages of a chat. */
type RoomChats = Pick<TeamRooms, "place" | "noteAdmitted">;

export class TeamFolders {
  private readonly parts: TeamFolderParts;
  /** For the inbox, which asks about every message: a field, so that nothing is called while no chat is a room. */
  readonly chats: RoomChats & { isUsed: boolean };
  private known: Team[] = [];
  private broken = new Map<string, string>();
  private lookedAt = Number.NEGATIVE_INFINITY;
  private looking: Promise<void> | undefined;

  constructor(parts: TeamFolderParts, rooms: () => RoomChats) {
    this.parts = parts;
    this.chats = {
      isUsed: false,
      place: (message) => rooms().place(message),
      noteAdmitted: (...noted) => rooms().noteAdmitted(...noted),
    };
  }

  /** As they were at the last look; starts another one when that is a while ago. */
  list(): Team[] {
    if (this.parts.clock.now() - this.lookedAt > LOOK_AGAIN_MS) void this.look();
    return this.known;
  }

  find(id: string): Team | undefined {
    return this.list().find((team) => team.id === id);
  }

  /** Reads all of them again. Never throws: what can't be read is a problem in words. */
  look(): Promise<void> {
    this.looking ??= this.read().finally(() => {
      this.looking = undefined;
    });
    return this.looking;
  }

  problems(): string[] {
    return [...this.broken.values()];
  }

  async templates(): Promise<TeamTemplate[]> {
    const ids = await namesIn(this.parts.templates, ".");
    const read = await Promise.all(ids.map((id) => readFolder(this.parts.templates, id, id)));
    return read.flatMap((team) => (team ? [toTemplate(team)] : []));
  }

  /** Makes the folder, and the agents that it names and the home lacks. Throws CONFLICT when there is one of this name. */
  async create(given: NewTeam): Promise<{ team: Team; madeAgents: string[] }> {
    const { home, crash, agents } = this.parts;
    await this.look();
    if (!NAME.test(given.id)) {
      throw new AppError("BAD_REQUEST", {
        message: `"${given.id}" can't be a team's name.`,
        hint: "Use a-z, 0-9 and -.",
      });
    }
    if (this.known.some(({ id }) => id === given.id) || this.broken.has(given.id)) {
      throw new AppError("CONFLICT", {
        message: `There is already a team "${given.id}".`,
        hint: "Choose another name.",
      });
    }
    const files = given.template === undefined ? writeOwn(given) : await this.readTemplate(given.template);
    const team = readTeam(given.id, await parseYaml(given.id, files.team), files.agreement);
    const madeAgents: string[] = [];
    for (const { agent } of team.members) {
      if (agents.exists(asId(agent))) continue;
      await agents.create(asId(agent), files.souls.get(agent));
      madeAgents.push(agent);
    }
    const put = (path: string, content: string) =>
      writeBelow({
        root: home,
        path: `teams/${given.id}/${path}`,
        content,
        tag: `team ${path}`,
        mode: 0o600,
        links: "refuse",
      });
    await put("TEAM.md", files.agreement);
    crash.at("team.staged");
    // Last: a team is there when this file is.
    await put("team.yaml", files.team);
    await this.look();
    return { team, madeAgents };
  }

  private async readTemplate(id: string): Promise<TeamFiles> {
    const { templates } = this.parts;
    const known = await namesIn(templates, ".");
    if (!known.includes(id)) {
      throw new AppError("NOT_FOUND", {
        message: `There is no ready-made team "${id}".`,
        hint: `Choose one of: ${known.join(", ")}.`,
      });
    }
    const read = async (path: string) =>
      (await textBelow({ root: templates, path: `${id}/${path}`, most: LARGEST })) ?? "";
    const souls = (await entriesIn(templates, `${id}/agents`)).filter((name) => name.endsWith(".md"));
    return {
      team: await read("team.yaml"),
      agreement: await read("TEAM.md"),
      souls: new Map(
        await Promise.all(
          souls.map(async (name): Promise<[string, string]> => [name.slice(0, -3), await read(`agents/${name}`)]),
        ),
      ),
    };
  }

  private async read(): Promise<void> {
    const { home, clock } = this.parts;
    const found: Team[] = [];
    const broken = new Map<string, string>();
    for (const id of await namesIn(home, "teams")) {
      try {
        const team = await readFolder(home, `teams/${id}`, id);
        if (team) found.push(team);
      } catch (error) {
        broken.set(id, error instanceof AppError ? error.message : String(error));
      }
    }
    this.known = found;
    this.broken = broken;
    this.lookedAt = clock.now();
    this.chats.isUsed = found.some(({ room }) => room.chat !== undefined);
  }
}

interface TeamFiles {
  team: string;
  agreement: string;
  souls: Map<string, string>;
}

async function namesIn(root: string, path: string): Promise<string[]> {
  return (await entriesIn(root, path)).filter((name) => NAME.test(name)).sort();
}

async function entriesIn(root: string, path: string): Promise<string[]> {
  return (await listBelow({ root, path, most: MOST_TEAMS })).entries.map(({ name }) => name);
}

/** Nothing where there is no team.yaml: somebody, or a crash, has only begun. */
async function readFolder(root: string, path: string, id: string): Promise<Team | undefined> {
  const team = await readBelow({ root, path: `${path}/team.yaml`, most: LARGEST, links: "refuse" });
  if (team.state === "none") return undefined;
  if (team.state === "refused") {
    throw new AppError("CONFIG_INVALID", { message: `teams/${id}/team.yaml can't be read: ${team.why}.` });
  }
  const agreement = await textBelow({ root, path: `${path}/TEAM.md`, most: LARGEST, links: "refuse" });
  return readTeam(id, await parseYaml(id, team.content.toString("utf8")), (agreement ?? "").trim());
}

/** Loaded when there is a team. */
async function parseYaml(id: string, text: string): Promise<unknown> {
  const { parse } = await import("yaml");
  try {
    return parse(text, { maxAliasCount: 0 });
  } catch (error) {
    throw new AppError("CONFIG_INVALID", { message: `teams/${id}/team.yaml isn't YAML: ${(error as Error).message}` });
  }
}

function writeOwn({ id, members = [], title }: NewTeam): TeamFiles {
  const [lead] = members;
  if (!lead) {
    throw new AppError("BAD_REQUEST", {
      message: "A team needs members.",
      hint: "Name agents with --members, or choose a ready-made team with --template (lares teams templates).",
    });
  }
  const lines = members.map(({ agent, role }) => `  - { agent: ${agent}${role ? `, role: ${role}` : ""} }`);
  return {
    team: [`title: ${JSON.stringify(title ?? id)}`, `lead: ${lead.agent}`, "members:", ...lines, ""].join("\n"),
    agreement: "",
    souls: new Map(),
  };
}

function toTemplate({ id, title, about, members }: Team): TeamTemplate {
  return { id, title, about, members: members.map(({ agent, role }) => ({ agent, role })) };
}
