/**
 * Who may talk. One pure table for every kind of event: a reaction or a button passes the same rule as a message.
 *
 * INTAKE-4: people are known by the platform's stable id, never by name (CH-01).
 * INTAKE-5: an empty list is nobody (CH-03). "Everybody" must be explicit: `dm: open`, or `*` in a group's list.
 * INTAKE-6: a grant is valid only where it was given: this account, and direct messages or one group (CH-05).
 */
import { type AccountPolicy, findGroup, type PlatformEvent } from "../../core/contracts/index.ts";
import type { Authority } from "../../core/domain/index.ts";
import { truthy } from "../../core/kit/index.ts";
import { NOT_TAKEN } from "./words.ts";

export interface Grant {
  sender: string;
  /** `direct`, or the chat id of a group. */
  context: string;
  role: "known" | "owner";
}

export type Standing =
  | { may: true; authority: Authority; mayApprove: boolean; agent?: string; tools?: readonly string[] }
  | { may: false; cause: keyof typeof NOT_TAKEN; why: string; pair: boolean };

export type JudgedEvent = Pick<PlatformEvent, "chat" | "sender" | "kind"> & { addressed?: boolean };

export function standing(policy: AccountPolicy, event: JudgedEvent, grants: readonly Grant[]): Standing {
  const { sender, chat } = event;
  if (sender.isBot && !policy.bots) return no("bot");
  const held = grants.find((g) => g.sender === sender.id && g.context === pairingContext(chat));
  const isOwner = policy.owners.includes(sender.id) || held?.role === "owner";
  if (chat.kind === "direct") {
    if (policy.dm === "off") return no("direct-off");
    if (isOwner) return yes("owner");
    if (held || policy.allow.includes(sender.id)) return yes("known");
    if (policy.dm === "open") return yes(policy.vouched ? "known" : "stranger");
    return no("unlisted", policy.dm === "pairing");
  }
  const group = findGroup(policy, chat.id);
  if (!group) return no("group-unlisted");
  const listed = held !== undefined || group.allow.includes(sender.id);
  if (!isOwner && !listed && !group.allow.includes("*")) return no("unlisted-in-group");
  const mustAddress = group.mention && (event.kind === "message" || event.kind === "edit");
  if (mustAddress && !event.addressed) return no("not-addressed");
  const guest = listed || policy.vouched ? "known" : "stranger";
  return {
    ...yes(isOwner ? "owner" : guest),
    ...truthy({ agent: group.agent, tools: group.tools }),
  };
}

function pairingContext(chat: PlatformEvent["chat"]): string {
  return chat.kind === "direct" ? "direct" : chat.id;
}

function yes(authority: Authority): Extract<Standing, { may: true }> {
  return { may: true, authority, mayApprove: authority === "owner" };
}

function no(cause: keyof typeof NOT_TAKEN, pair = false): Standing {
  return { may: false, cause, why: NOT_TAKEN[cause], pair };
}
