import { asObject } from "../../core/domain/index.ts";
import { defined, truthy } from "../../core/kit/index.ts";

/**
 * Who may write, and where a job's answer goes, as another system had it. A list is taken over as it is, with two exceptions that
 * the account's note names: "everybody" is never taken over, and nobody becomes an owner here by a file from elsewhere.
 */

type Fields = Record<string, unknown>;

/** Ours by name, as in lares.yaml. */
export interface ImportedAccess {
  dm?: "pairing" | "allowlist" | "off";
  allow?: string[];
  groups?: Record<string, { allow: string[]; mention: boolean }>;
}

/** Where a job answers; the chat belongs to an account that may not be connected yet. */
export interface ImportedDelivery {
  channel: string;
  account: string;
  chat: string;
  thread?: string;
}

const DM: Record<string, ImportedAccess["dm"]> = {
  pairing: "pairing",
  allowlist: "allowlist",
  disabled: "off",
  off: "off",
};

/** An account of OpenClaw: dmPolicy, allowFrom, groupPolicy, groupAllowFrom, groups. */
export function openClawAccess(account: Fields): ImportedAccess {
  const dm = typeof account.dmPolicy === "string" ? DM[account.dmPolicy] : undefined;
  const allow = readIds(account.allowFrom);
  const everywhere = readIds(account.groupAllowFrom);
  const listed = account.groupPolicy === "disabled" ? {} : asObject(account.groups ?? account.guilds ?? account.rooms);
  const groups = Object.fromEntries(
    Object.entries(listed)
      .filter(([id, one]) => id !== "*" && asObject(one).enabled !== false)
      .map(([id, one]) => {
        const own = readIds(asObject(one).allowFrom ?? asObject(one).users);
        const people = [own, everywhere].find((listed) => listed.length > 0) ?? allow;
        return [id, { allow: people, mention: asObject(one).requireMention !== false }];
      }),
  );
  return {
    ...defined({ dm }),
    ...(allow.length > 0 ? { allow } : {}),
    ...(Object.keys(groups).length > 0 ? { groups } : {}),
  };
}

/** A job of OpenClaw: `delivery` since 2026, fields of the payload before. Without a chat there is nowhere to deliver to. */
export function openClawDelivery(job: Fields, name: (id: string) => string): ImportedDelivery | undefined {
  const delivery = asObject(job.delivery);
  const payload = asObject(job.payload);
  if (delivery.mode === "none" || payload.deliver === false) return undefined;
  const channel = text(delivery.channel) ?? text(payload.channel) ?? text(payload.provider);
  const to = text(delivery.to) ?? text(payload.to);
  if (!channel || !to || channel === "last") return undefined;
  return placed(channel, to, name(text(delivery.accountId) ?? "main"), text(delivery.threadId));
}

/** A job of Hermes: "telegram", "telegram:CHAT[:THREAD]", or "origin", which is the chat it was made in. */
export function hermesDelivery(
  job: Fields,
  home: (channel: string) => string | undefined,
): ImportedDelivery | undefined {
  const said = text(job.deliver);
  const origin = asObject(job.origin);
  if (said === undefined || said === "local") return undefined;
  if (said === "origin") {
    const [channel, chat] = [text(origin.platform), text(origin.chat_id)];
    return channel && chat ? placed(channel, chat, "main", text(origin.thread_id)) : undefined;
  }
  const [channel = "", ...rest] = said.split(":");
  const chat = rest[0] || home(channel);
  return chat ? placed(channel, chat, "main", rest[1]) : undefined;
}

function placed(channel: string, to: string, account: string, thread?: string): ImportedDelivery {
  // OpenClaw writes what kind of place it is in front, and a topic behind.
  const plain = to.replace(/^(telegram|discord|slack|signal|channel|user|chat|group):/i, "");
  const topic = /^(-?\d+):topic:(\d+)$/.exec(plain);
  const [chat, of] = topic ? [topic[1]!, topic[2]!] : [plain, thread];
  return { channel: channel.toLowerCase(), account, chat, ...truthy({ thread: of }) };
}

/** People by id. "*" is everybody, which is not taken over; the platform's name in front of an id goes. */
export function readIds(value: unknown): string[] {
  const listed = typeof value === "string" ? value.split(",") : value;
  const all: unknown[] = Array.isArray(listed) ? listed : [];
  const ids = all.map((one) =>
    String(one)
      .trim()
      .replace(/^(telegram|tg|discord|slack|user|signal|matrix):/i, ""),
  );
  return [...new Set(ids.filter((id) => id !== "" && id !== "*"))];
}

/** Whether a list let everybody in. */
export function isOpen(account: Fields): boolean {
  const everybody = [account.allowFrom, account.groupAllowFrom].some(
    (list) => Array.isArray(list) && list.includes("*"),
  );
  return everybody || account.dmPolicy === "open" || account.groupPolicy === "open";
}

function text(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}
