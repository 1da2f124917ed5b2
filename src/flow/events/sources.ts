/** The events of each source: whose words they are, and with whose rights they act (I12). */
import {
  type AgentId,
  type Authority,
  asId,
  eventKeys,
  type ReplyRoute,
  type SessionKey,
  sessionKeys,
  sourceKeys,
  unknownAgent,
} from "../../core/domain/index.ts";
import type { Principal } from "../../core/protocol/index.ts";
import type { SystemEvent } from "./events.ts";

interface Told {
  agent: string;
  session: string;
  route: ReplyRoute;
  label: string;
  body: string;
}

/** What these events have in common. */
type Fixed = "kind" | "source" | "authority" | "lane";

/** The event for the end of a background process. Each process is reported once (PROCESS-4). */
export function exitEvent(
  { id, agent, session, route, label, body }: Told & { id: string },
  authority: Authority,
): SystemEvent {
  return {
    key: eventKeys.process(id),
    kind: "process",
    source: sourceKeys.process(id),
    session: asId<SessionKey>(session),
    agent: asId<AgentId>(agent),
    route,
    label,
    body,
    // Its content is data: it must not change what Lares stores.
    authority,
    outside: true,
    must: true,
  };
}

/** The event for a webhook. Its content comes from outside (I12). */
export function hookEvent({ hook, ...rung }: Omit<SystemEvent, Fixed> & { hook: string }): SystemEvent {
  return { ...rung, kind: "hook", source: sourceKeys.hook(hook), authority: "outside", lane: "scheduled" };
}

/** The event for something new in a watch. Its content comes from outside (I12). */
export function spottedEvent({ watch, ...spotted }: Omit<SystemEvent, Fixed> & { watch: string }): SystemEvent {
  return { ...spotted, kind: "watch", source: sourceKeys.watch(watch), authority: "outside", lane: "scheduled" };
}

/** Which session a wake is for, and whose that is. */
export async function placeWake(
  parts: {
    sessions: { get(session: SessionKey): Promise<{ agent: string }> };
    agents: { exists(agent: AgentId): boolean };
    defaultAgent: string;
  },
  named: { session: string; agent?: string | undefined },
): Promise<{ session: SessionKey; agent: AgentId }> {
  const agent = asId<AgentId>(named.agent ?? parts.defaultAgent);
  const isMain = named.session === "main";
  const session = isMain ? sessionKeys.main(agent) : asId<SessionKey>(named.session);
  // The main session needs no row yet: the event itself will create it. Any other key must exist, or a typo would start a session.
  // A session belongs to one agent. A named agent doesn't change that.
  const owner = isMain ? agent : asId<AgentId>((await parts.sessions.get(session)).agent);
  if (!parts.agents.exists(owner)) throw unknownAgent(owner);
  return { session, agent: owner };
}

/** The event for a person, or a program with a token, that woke a session. */
export function wakeEvent(
  { by, deliver, text, ...to }: Pick<SystemEvent, "session" | "agent"> & WakeCall,
  id: string,
): SystemEvent {
  return {
    ...to,
    key: eventKeys.wake(by.id, id),
    kind: "wake",
    source: sourceKeys.wake(by.id),
    route: deliver ?? { channel: "none", account: "wake", chat: to.session },
    label: `Woken by ${by.name}`,
    body: text,
    authority: by.scopes.has("admin") ? "owner" : "known",
  };
}

interface WakeCall {
  by: Principal;
  text: string;
  deliver?: ReplyRoute | undefined;
}

/** The event that reports a sub-agent to its parent's session. */
export function childEvent({ child, ...told }: Omit<SystemEvent, "kind" | "source"> & { child: string }): SystemEvent {
  return { ...told, kind: "child", source: sourceKeys.session(child), must: true };
}

/** The event for how a task of the board stands, for the one that asked for it. */
export function taskEvent({ task, ...told }: Omit<SystemEvent, "kind" | "source"> & { task: string }): SystemEvent {
  return { ...told, kind: "board", source: sourceKeys.task(task), must: true };
}

/** The event for what another agent answers or asks. Its words are from outside (I12). */
export function peerEvent(key: string, { peer, authority, agent, session, ...told }: Told & HiredBy): SystemEvent {
  return {
    route: told.route,
    label: told.label,
    body: told.body,
    authority,
    key: eventKeys.peer(key),
    kind: "peer",
    source: sourceKeys.peer(peer),
    session: asId<SessionKey>(session),
    agent: asId<AgentId>(agent),
    outside: true,
    must: true,
  };
}

interface HiredBy {
  peer: string;
  authority: Authority;
}
