/** The events of each source: whose words they are, and with whose rights they act (I12). */
import {
  type AgentId,
  type Authority,
  asId,
  eventKeys,
  type ReplyRoute,
  type SessionKey,
  sourceKeys,
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

/** What tells a session of a background process's end. The same process is told once (PROCESS-4). */
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
    ...{ route, label, body },
    // What it says is data: it may not change what Lares keeps.
    authority,
    outside: true,
    must: true,
  };
}

/** What tells a session of a webhook. Whatever it says comes from outside (I12). */
export function hookEvent({ hook, ...rung }: Omit<SystemEvent, Fixed> & { hook: string }): SystemEvent {
  return { ...rung, kind: "hook", source: sourceKeys.hook(hook), authority: "outside", lane: "scheduled" };
}

/** What tells a session that something watched is new. It comes from outside (I12). */
export function spottedEvent({ watch, ...spotted }: Omit<SystemEvent, Fixed> & { watch: string }): SystemEvent {
  return { ...spotted, kind: "watch", source: sourceKeys.watch(watch), authority: "outside", lane: "scheduled" };
}

/** What tells a session that a person or a program with a token woke it. */
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

/** What tells a parent's session of its sub-agent. */
export function childEvent({ child, ...told }: Omit<SystemEvent, "kind" | "source"> & { child: string }): SystemEvent {
  return { ...told, kind: "child", source: sourceKeys.session(child), must: true };
}
