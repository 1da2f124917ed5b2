/**
 * Conversations of code editors. Each is about one folder, which is part of its key: anyone who goes on with it works in the same place.
 *
 * EDITOR-1: an editor gives an agent no folder. It names one that the agent may work in already: its workspace, or a root.
 * EDITOR-2: an editor can make a conversation stricter than the agent's policy, never laxer. What the owner configured is the ceiling
 *     at every judgement, also when they make it stricter later.
 */
import { realpath, stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import {
  type AgentId,
  AppError,
  asId,
  modesWithin,
  type PolicyMode,
  readEditorSession,
  type SessionKey,
  sessionKeys,
  stricterMode,
  unknownAgent,
} from "../../core/domain/index.ts";
import { defined, type IdMaker } from "../../core/kit/index.ts";
import { ANOTHER_FOLDER, notAFolder, notItsFolder, notOfAnEditor, TOO_LONG, tooLax, unknownModel } from "./words.ts";

export interface EditorParts {
  ids: IdMaker;
  defaultAgent(): string;
  agents: { exists(agent: AgentId): boolean; place(agent: AgentId): { workspace: string } };
  /** Folders besides the workspace; real paths. */
  roots(agent: string): readonly string[];
  /** What the owner configured for this agent. */
  mode(agent: string): PolicyMode;
  sessions: {
    /** Durable when it resolves. */
    begin(session: SessionKey, by: { agent: string; person: string }): Promise<void>;
    /** Throws NOT_FOUND. */
    get(session: string): Promise<unknown>;
    mode(session: string): Promise<PolicyMode | undefined>;
    setMode(session: SessionKey, mode: PolicyMode | null): Promise<void>;
  };
  models: {
    /** Models that can be asked for. */
    names(): readonly string[];
    /** The one asked first, and whether that was chosen for this session. */
    find(session: SessionKey, agent: AgentId): Promise<{ model: string; chosen: boolean }>;
    choose(session: SessionKey, agent: AgentId, model: string | null): Promise<void>;
  };
  mcp: { brought: ServersPort };
}

/** Programs and addresses that an editor brings to one conversation. */
interface ServersPort {
  /** Takes those that have a yes, until they aren't renewed any more; ends the others. Starts nothing. */
  bring(
    by: { session: string; holder: string; folder: string },
    servers: readonly BroughtDefinition[],
    yes: readonly string[],
  ): Promise<BroughtState[]>;
  end(session: string, holder?: string): Promise<void>;
}

interface BroughtDefinition {
  name: string;
  type?: string | undefined;
  command?: string | undefined;
  args?: readonly string[] | undefined;
  env?: Readonly<Record<string, string>> | undefined;
  url?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
}

interface BroughtState {
  id: string;
  name: string;
  state: "asks" | "used" | "refused";
  target: string;
  gets: string[];
  why?: string;
}

interface EditorPlace {
  session: SessionKey;
  agent: string;
  folder: string;
  mode: PolicyMode;
  modes: PolicyMode[];
  model: string;
  chosen: boolean;
}

/** The protocol's limit for a session's key. */
const MOST_KEY = 512;

export class EditorSessions {
  private readonly parts: EditorParts;

  constructor(parts: EditorParts) {
    this.parts = parts;
  }

  /** Throws BAD_REQUEST for a folder the agent may not work in, NOT_FOUND for a conversation that isn't an editor's. */
  async open(ask: { folder: string; person: string; session?: string; agent?: string }): Promise<EditorPlace> {
    const known = ask.session === undefined ? undefined : await this.known(ask.session);
    const agent = known?.agent ?? ask.agent ?? this.parts.defaultAgent();
    if (!this.parts.agents.exists(asId<AgentId>(agent))) throw unknownAgent(agent);
    const folder = await this.checkFolder(agent, ask.folder);
    if (known) {
      if (known.folder !== folder) throw new AppError("BAD_REQUEST", { message: ANOTHER_FOLDER(known.folder) });
      return this.view(known.session);
    }
    const session = sessionKeys.editor(agent, folder, this.parts.ids.next("ed"));
    // A name that its key can't carry unchanged would lead elsewhere when it is read.
    if (session.length > MOST_KEY || readEditorSession(session)?.folder !== folder)
      throw new AppError("BAD_REQUEST", { message: TOO_LONG(folder) });
    await this.parts.sessions.begin(session, { agent, person: ask.person });
    return this.view(session);
  }

  async tune(key: string, change: { mode?: PolicyMode; model?: string | null }): Promise<EditorPlace> {
    const { session, agent } = await this.known(key);
    const { models, sessions } = this.parts;
    const most = this.parts.mode(agent);
    if (change.mode !== undefined && !modesWithin(most).includes(change.mode))
      throw new AppError("FORBIDDEN", tooLax(agent, change.mode, most));
    if (change.model && !models.names().includes(change.model))
      throw new AppError("MODEL_UNKNOWN", unknownModel(change.model, models.names()));
    // The agent's own mode is no setting of the conversation: it follows what the owner configures.
    if (change.mode !== undefined) await sessions.setMode(session, change.mode === most ? null : change.mode);
    if (change.model !== undefined) await models.choose(session, asId<AgentId>(agent), change.model);
    return this.view(session);
  }

  /** See {@link ServersPort.bring}; an empty list ends them. Throws NOT_FOUND when the conversation is gone, and its servers are, too. */
  async bring(ask: {
    session: string;
    holder: string;
    servers: readonly BroughtDefinition[];
    yes: readonly string[];
  }): Promise<{ servers: BroughtState[] }> {
    const { session, folder } = await this.known(ask.session).catch(async (error: unknown) => {
      await this.parts.mcp.brought.end(ask.session);
      throw error;
    });
    return {
      servers: await this.parts.mcp.brought.bring({ session, folder, holder: ask.holder }, ask.servers, ask.yes),
    };
  }

  private async known(key: string): Promise<{ session: SessionKey; agent: string; folder: string }> {
    await this.parts.sessions.get(key);
    const session = asId<SessionKey>(key);
    const read = readEditorSession(key);
    if (!read || sessionKeys.editor(read.agent, read.folder, read.id) !== session)
      throw new AppError("NOT_FOUND", { message: notOfAnEditor(key) });
    return { session, ...read };
  }

  private async checkFolder(agent: string, given: string): Promise<string> {
    const folder = isAbsolute(given) ? await realpath(given).catch(() => undefined) : undefined;
    const isFolder = folder !== undefined && (await stat(folder).catch(() => undefined))?.isDirectory();
    if (folder === undefined || !isFolder) throw new AppError("BAD_REQUEST", { message: notAFolder(given) });
    const { workspace } = this.parts.agents.place(asId<AgentId>(agent));
    if (startFolder(folder, [await realpath(workspace), ...this.parts.roots(agent)]) === undefined)
      throw new AppError("BAD_REQUEST", notItsFolder(agent, folder));
    return folder;
  }

  private async view(session: SessionKey): Promise<EditorPlace> {
    const { agent, folder } = readEditorSession(session)!;
    const [own, model] = await Promise.all([
      this.parts.sessions.mode(session),
      this.parts.models.find(session, asId<AgentId>(agent)),
    ]);
    const most = this.parts.mode(agent);
    const mode = own === undefined ? most : stricterMode(own, most);
    return { session, agent, folder, mode, modes: modesWithin(most), ...model };
  }
}

/** The folder, if it lies in one of those the agent may work in (EDITOR-1). */
function startFolder(folder: string, within: readonly string[]): string | undefined {
  return within.some((root) => folder === root || folder.startsWith(`${root}/`)) ? folder : undefined;
}

/** Where the calls of a session start, when that isn't the workspace: the folder it is about, as long as the agent may work there. */
export function findStart(session: string, within: readonly string[]): { folder?: string } {
  const folder = readEditorSession(session)?.folder;
  return folder === undefined ? {} : defined({ folder: startFolder(folder, within) });
}
