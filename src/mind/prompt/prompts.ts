/** Builds a session's frozen system prompt from what the records, channels, sandbox and config know. */

import { existsSync } from "node:fs";
import { type AccountPolicy, type Capabilities, findGroup, type ToolSpec } from "../../core/contracts/index.ts";
import {
  type AgentId,
  type CameBy,
  ENDING_TOOLS,
  type InboundMessage,
  PULLED,
  type SessionKey,
} from "../../core/domain/index.ts";
import { defined, truthy } from "../../core/kit/index.ts";
import { shows } from "../../core/render/index.ts";
import { joinSections, type PromptFiles, type PromptSection, promptSections, sharedLength } from "./assemble.ts";
import { channelName, fetchedFormat } from "./channels.ts";
import { type FamilyChoice, familyNote, findFamily, orderTools } from "./families.ts";
import type { ChatFormat, KnownChat, PromptMachine, PromptPlace } from "./place.ts";
import { type SessionFacts, situate } from "./situate.ts";
import { isSmall, type Situation } from "./situation.ts";
import { toolsFor } from "./tools.ts";

/** A way somebody came into the session. */
interface ChatDoor extends CameBy {
  isGroup: boolean;
  name?: string;
  title?: string;
  face?: InboundMessage["face"];
}

export interface PromptParts {
  /** How people and events came into a session, in order. */
  doors: (session: SessionKey) => Promise<readonly ChatDoor[]>;
  /** Chats this agent was written to in, the latest first. */
  recentChats: (
    agent: AgentId,
  ) => Promise<
    readonly { channel: string; account: string; chat: string; isGroup: boolean; name?: string; title?: string }[]
  >;
  /** The job whose run this session is. */
  findJobByRun: (session: SessionKey) => Promise<JobFacts | undefined>;
  everydayCommands: (who: "owner" | "known" | "stranger") => readonly string[];
  files: (agent: AgentId, session: SessionKey) => Promise<PromptFiles>;
  skills: (agent: AgentId) => Promise<string>;
  /** What is offered, the names of what is found by search, and tools of MCP servers that the owner pinned. */
  tools: (agent: AgentId) => { specs: ToolSpec[]; found: readonly string[]; pinned: readonly ToolSpec[] };
  window: (model: string) => number;
  /** A person's time zone, as used in the lines above their messages; Lares' own zone without a person. */
  zone: (person: string | undefined) => Promise<string>;
  agent: (agent: AgentId) => {
    name?: string | undefined;
    mode: "ask" | "record" | "ignore";
    family?: FamilyChoice | undefined;
  };
  account: (channel: string, account: string) => { can: Capabilities; policy: AccountPolicy | undefined } | undefined;
  /** Whether any channel is connected; without one, looking up chats is skipped. */
  hasAccounts: () => boolean;
  sandbox: (agent: AgentId) => Promise<{ name: string; network: boolean } | { name: string; isDown: true }>;
  /** Folders besides its workspace. */
  roots: (agent: AgentId) => readonly string[];
  /** The project folder a session is about, and the agent's workspace. */
  start: (agent: AgentId, session: SessionKey) => PromptMachine["start"];
}

type JobFacts = NonNullable<SessionFacts["job"]> & { mayPlan: boolean };

export interface MadePrompt {
  system: string;
  shared: number;
  sections: PromptSection[];
  tools: ToolSpec[];
}

/** For a program that supplies its own instructions, history or tools: no chat details and none of our tools. */
export function callerPrompt(files: PromptFiles): string {
  const situation: Situation = { kind: "api", tools: new Set(), window: Number.POSITIVE_INFINITY };
  const place: PromptPlace = { kind: "api", agent: "", zone: "" };
  const own = { ...files, user: "", memory: "" };
  return joinSections(promptSections({ situation, place, files: own, familyNote: "", skills: "" }));
}

export function makePrompts(parts: PromptParts) {
  return async (of: { agent: AgentId; session: SessionKey; model: string }): Promise<MadePrompt> => {
    const { agent, session, model } = of;
    const doors = await parts.doors(session);
    const people = doors.filter((door) => door.speaker !== "event");
    const last = people.at(-1) ?? doors.at(-1);
    const account = last && parts.account(last.channel, last.account);
    const group = last?.isGroup ? findGroup(account?.policy, last.chat) : undefined;
    const { specs, found, pinned } = parts.tools(agent);
    const job = await parts.findJobByRun(session);
    // A job's run can't add schedules unless it may plan, so those tools aren't offered.
    const mayPlan = !job || job.mayPlan;
    const usable = mayPlan ? specs : specs.filter(({ name }) => name !== "schedule_add");
    const allowed = group?.tools ? usable.filter(({ name }) => isOffered(name, group.tools!)) : usable;
    const hearsAll = last?.isGroup === true && group?.mention === false;
    const rough = situate({
      session,
      ...truthy({ job }),
      speakers: people.map((door) => door.speaker ?? "owner").filter((one) => one !== "event"),
      isGroup: last?.isGroup ?? false,
      needsMention: group?.mention ?? true,
      tools: new Set(),
      window: parts.window(model),
    });
    const offered = [
      ...toolsFor(rough, allowed),
      // Servers are the owner's. A chat that allows only some tools, and a small window, gets none of theirs.
      ...(rough.kind === "stranger" || group?.tools || isSmall(rough) ? [] : pinned),
      // How to end a turn is explained however small the window is.
      ...(hearsAll ? [ENDING_TOOLS.stay_silent] : []),
      ...(job?.isQuiet ? [ENDING_TOOLS.nothing_to_report] : []),
    ];
    const names = new Set([...offered.map(({ name }) => name), ...(group?.tools ? [] : found)]);
    const situation: Situation = { ...rough, tools: names };
    const { family: choice } = parts.agent(agent);
    const family = findFamily(model, choice);
    const note = familyNote(family, isSmall(situation));
    const [files, skills, place] = await Promise.all([
      parts.files(agent, session),
      situation.kind === "child" || situation.kind === "stranger" ? "" : parts.skills(agent),
      readPlace(parts, { agent, session, situation, last, can: account?.can, names }),
    ]);
    const sections = promptSections({ situation, place, files, familyNote: note, skills });
    const system = joinSections(sections);
    return { system, shared: sharedLength(sections), sections, tools: orderTools(family, offered) };
  };
}

/** `tool_search` and `tool_run` are always offered: the tool they run is judged by its own name. */
function isOffered(name: string, allowed: readonly string[]): boolean {
  return name === "tool_search" || name === "tool_run" || allowed.includes(name);
}

async function readPlace(
  parts: PromptParts,
  of: {
    agent: AgentId;
    session: SessionKey;
    situation: Situation;
    last: ChatDoor | undefined;
    can: Capabilities | undefined;
    names: ReadonlySet<string>;
  },
): Promise<PromptPlace> {
  const { agent, session, situation, last, can, names } = of;
  const { kind } = situation;
  const { name, mode } = parts.agent(agent);
  const isGuest = kind === "stranger";
  return {
    kind,
    agent,
    zone: await parts.zone(kind === "group" ? undefined : (last?.person ?? undefined)),
    ...truthy({ name }),
    ...(last && last.channel !== "none" ? { channel: channelName(last) } : {}),
    ...(kind === "group" ? { group: last?.title ? { title: last.title } : {} } : {}),
    ...namePerson(kind, last),
    ...describeFormat(kind, can, last),
    ...(names.has("exec") && !isGuest
      ? { machine: await describeMachine(parts, agent, session), approvals: mode }
      : {}),
    ...(isSmall(situation) ? { isShort: true } : {}),
    ...(isDirect(kind) && !isSmall(situation) ? { commands: parts.everydayCommands(kind) } : {}),
    ...(kind === "owner" && names.has("message") ? { chats: await listChats(parts, agent, last) } : {}),
  };
}

/** More than people keep in mind; each costs about 30 tokens in every request. */
const MOST_CHATS = 8;

/** Where the `message` tool can send besides this chat: only through accounts that are still connected. */
async function listChats(parts: PromptParts, agent: AgentId, here: ChatDoor | undefined): Promise<KnownChat[]> {
  if (!parts.hasAccounts()) return [];
  const all = await parts.recentChats(agent);
  return all
    .filter(({ channel, account, chat }) => {
      const isHere = here?.channel === channel && here.account === account && here.chat === chat;
      return !isHere && parts.account(channel, account) !== undefined;
    })
    .slice(0, MOST_CHATS)
    .map(({ channel, account, chat, isGroup, name, title }) => {
      const called = isGroup ? title : name;
      return { channel, account, chat, isGroup, ...truthy({ name: called }) };
    });
}

function isDirect(kind: Situation["kind"]): kind is "owner" | "known" | "stranger" {
  return kind === "owner" || kind === "known" || kind === "stranger";
}

function namePerson(kind: Situation["kind"], last: ChatDoor | undefined): Pick<PromptPlace, "with"> {
  if (!isDirect(kind)) return {};
  const name = last?.name ?? (kind === "owner" ? undefined : callersUser(last));
  return { with: { standing: kind === "stranger" ? "guest" : kind, ...truthy({ name }) } };
}

/** The user a program speaks for, by the program's own name for them. A one-off conversation has none. */
function callersUser(last: ChatDoor | undefined): string | undefined {
  // What a peer calls its conversations isn't anybody's name.
  const isNamed = last !== undefined && PULLED.has(last.channel) && last.channel !== "a2a" && last.chat !== "owner";
  return isNamed && !last.chat.startsWith("once-") ? last.chat : undefined;
}

function describeFormat(
  kind: Situation["kind"],
  can: Capabilities | undefined,
  last: ChatDoor | undefined,
): { format?: ChatFormat } {
  if (kind === "child") return {};
  if (!can) return last && last.channel !== "none" ? { format: fetchedFormat(last) } : {};
  const { limit, unit, most, files } = can;
  return { format: { ...shows(can.dialect), limit, unit, files, ...truthy({ most }) } };
}

async function describeMachine(parts: PromptParts, agent: AgentId, session: SessionKey): Promise<PromptMachine> {
  const box = await parts.sandbox(agent);
  const { name } = box;
  return {
    os: { linux: "Linux", darwin: "macOS", win32: "Windows" }[process.platform as string] ?? process.platform,
    shell: existsSync("/bin/bash") ? "bash" : "sh",
    ...(name === "none" ? {} : { sandbox: name === "ssh" ? "another machine (ssh)" : `a sandbox (${name})` }),
    ...("isDown" in box ? { down: name } : { network: box.network }),
    roots: parts.roots(agent),
    ...defined({ start: parts.start(agent, session) }),
  };
}
