/** Methods about channels: accounts come and go while Lares runs; secrets go to the vault, the file refers to them. */

import { rm } from "node:fs/promises";
import type { Channel } from "../../core/contracts/index.ts";
import { AppError, acceptIds, asId, type Json, type JsonObject, type TurnId } from "../../core/domain/index.ts";
import { type Log, truthy } from "../../core/kit/index.ts";
import type { Parsed } from "../../core/protocol/index.ts";
import { ADAPTERS, accountFolder, configured } from "../../edges/channels/index.ts";
import type { Handlers } from "../../faces/gateway/index.ts";
import { forgetAccount } from "../../flow/channels/index.ts";
import { deliveriesOn } from "../../flow/outbox/index.ts";
import { forgetAdmitted } from "../../flow/turns/index.ts";
import { explainIssues } from "../../ground/config/index.ts";
import type { Vault } from "../../ground/vault/index.ts";
import type { LaresSettings } from "../config.ts";
import type { MethodParts } from "./parts.ts";

type Methods = Pick<Handlers, `channels.${string}` & keyof Handlers>;

export interface ChannelMethodParts extends MethodParts {
  settings: LaresSettings;
  vault: Vault;
  log: Log;
}

const CHECK_PATIENCE_MS = 15_000;

export function makeChannelMethods(parts: ChannelMethodParts): Methods {
  const { settings, vault, clock } = parts;
  const instance = () => parts.instance();
  const libraries = () => instance().channels.libraries;
  const list = () =>
    instance()
      .channels.accounts.list()
      .map(({ hearing, sending, ...one }) => ({
        name: `${one.channel}/${one.account}`,
        ...one,
        hearing: hearing ?? null,
        sending: sending ?? null,
      }));
  const find = (name: string) => {
    const known = list();
    const found = known.find((one) => one.name === name);
    if (found) return found;
    const fitting = known.filter((one) => one.account === name || one.channel === name);
    const hint =
      fitting.length === 1
        ? `Did you mean "${fitting[0]!.name}"?`
        : `Known: ${known.map((one) => one.name).join(", ") || "none. Add one: lares channels add"}.`;
    throw new AppError("CHANNEL_UNKNOWN", { message: `There is no channel "${name}".`, hint });
  };
  const entryOf = (channel: string) => {
    const entry = Object.hasOwn(ADAPTERS, channel) ? ADAPTERS[channel] : undefined;
    if (entry) return entry;
    const hint = `Known: ${Object.keys(ADAPTERS).join(", ")}.`;
    throw new AppError("CHANNEL_UNKNOWN", { message: `There is no kind of channel "${channel}".`, hint });
  };
  /** Asks the platform with these fields as they are. */
  const check = async (channel: string, fields: Record<string, Json>) => {
    const entry = entryOf(channel);
    const missing = (entry.packages ?? []).filter((name) => !libraries().isInstalled(name));
    if (missing.length) {
      throw new AppError("BAD_REQUEST", {
        message: `${entry.title} needs ${missing.join(", ")}.`,
        hint: `Install it: lares channels add ${channel}`,
      });
    }
    const parsed = entry.config.safeParse(fields);
    if (!parsed.success) {
      const issue = parsed.error.issues[0]!;
      const field = issue.path.join(".");
      const [why = issue.message] = explainIssues(parsed.error, fields);
      const what = entry.asks.find((ask) => ask.field === issue.path[0])?.what;
      throw new AppError("BAD_REQUEST", {
        message: `${entry.title} can't be connected with these settings: ${why}.`,
        ...(what ? { hint: `${field}: ${what}.` } : {}),
        details: { field },
      });
    }
    const account = configured(entry, "check", parsed.data, {
      ...{ home: instance().channels.home, clock, log: parts.log, libraries: libraries() },
    });
    return checked(entry.title, () => account.open());
  };
  const view = (channel: string, account: string) => `${channel}/${account}`;
  /** The account as it is set now, its secrets filled in. */
  const presentOf = (channel: string, account: string) =>
    (parts.config.channels as unknown as Record<string, Record<string, Record<string, Json>>>)[channel]?.[account];
  /** The same bot under two names would take its messages from itself. An id counts where it was given: on that server. */
  const notTwice = async (channel: string, account: string, fields: Record<string, Json>, id: string) => {
    const places = (given: Record<string, Json>) =>
      JSON.stringify(
        Object.entries(given).filter(([field]) => /^(url|apiUrl|homeserver|imapHost|host|service)$/.test(field)),
      );
    const mine = places(entryOf(channel).config.parse(fields));
    for (const other of list().filter((one) => one.channel === channel && one.account !== account)) {
      if (places(presentOf(channel, other.account) ?? {}) !== mine) continue;
      const open = instance().channels.accounts.get(channel, other.account)?.open;
      const found = open && (await checked(other.name, open).catch(() => undefined));
      if (found?.id !== id) continue;
      throw new AppError("CONFLICT", {
        message: `${found.name} is connected already, as ${other.name}.`,
        hint: `Give that one new values with --name ${other.account} --replace, or another bot's here.`,
      });
    }
  };

  /**
   * Nothing of an account of this name is left: positions, people, codes, counts, and which messages it had seen, so that one that
   * is added again takes what the platform still has as new. Conversations stay; they go on under the same key.
   */
  const startClean = async (at: { channel: string; account: string }) => {
    const { records, engine } = instance();
    await records.write((tx) => forgetAccount(tx, at));
    const ids = acceptIds.allMessages(at);
    while (await forgetAdmitted(records, ids));
    await engine.forgetIds(ids);
  };

  return {
    "channels.list": async () => ({ channels: list() }),
    async "channels.status"({ name }) {
      const found = find(name);
      return { ...found, ...(await deliveriesOn(instance().records.committed, found.channel, found.account)) };
    },
    "channels.kinds": async () => ({
      kinds: Object.values(ADAPTERS).map(({ name, title, asks, secrets, packages = [] }) => ({
        name,
        title,
        asks: asks.map((ask) => ({ ...ask, secret: secrets.includes(ask.field) })),
        packages: [...packages],
        installed: packages.every((one) => libraries().isInstalled(one)),
      })),
    }),
    "channels.check": ({ channel, fields }) => check(channel, fields as Record<string, Json>),

    async "channels.install"({ channel }) {
      const { packages = [] } = entryOf(channel);
      await libraries().install(packages);
      return { packages: [...packages] };
    },

    async "channels.add"({ channel, account, fields: given, replace }: Parsed<"channels.add">) {
      const entry = entryOf(channel);
      const fields = given as Record<string, Json>;
      const before = presentOf(channel, account);
      if (before && !replace) {
        throw new AppError("CONFLICT", {
          message: `There is ${view(channel, account)} already.`,
          hint: "Choose another name for the new one (--name), or give that one these values (--replace).",
          details: { replaces: view(channel, account) },
        });
      }
      const who = await check(channel, { ...before, ...fields });
      await notTwice(channel, account, { ...before, ...fields }, who.id);
      const kept = structuredClone(fields) as JsonObject;
      for (const field of entry.secrets) {
        const path = field.split(".");
        const value = path.reduce<Json | undefined>((at, key) => (at as JsonObject | undefined)?.[key], kept);
        if (typeof value !== "string" || value.startsWith("vault:") || value.startsWith("${")) continue;
        const secret = secretName(channel, account, field);
        await vault.set(secret, value);
        const last = path.pop()!;
        (path.reduce<Json | undefined>((at, key) => (at as JsonObject)[key], kept) as Record<string, Json>)[last] =
          `vault:${secret}`;
      }
      const at = ["channels", channel, account];
      // Removed by hand in the file, or by a process that died half-way: it starts as new all the same.
      if (!before) await startClean({ channel, account });
      await settings.change(before ? Object.entries(kept).map(([key, value]) => [[...at, key], value]) : [[at, kept]]);
      const pairs = instance().channels.accounts.policy({ channel, account })?.dm === "pairing";
      return {
        name: view(channel, account),
        who,
        hint: pairs
          ? `Write to ${who.name} there; it answers with a code. Let yourself in: lares channels approve CODE --owner`
          : `Write to ${who.name} there.`,
        pairs,
        where: vault.where(),
      };
    },

    async "channels.remove"({ name }) {
      const { channel, account } = find(name);
      await settings.change([[["channels", channel, account], undefined]]);
      await startClean({ channel, account });
      await rm(accountFolder(instance().channels.home, { channel, account }), { recursive: true, force: true });
      for (const field of entryOf(channel).secrets) await vault.remove(secretName(channel, account, field));
      return { removed: true };
    },

    async "channels.test"({ name, chat }) {
      const { channel, account } = find(name);
      const who = await checked(name, () => instance().channels.accounts.get(channel, account)!.open());
      if (chat === undefined) return { ...who, sent: false };
      const id = `test:${parts.ids.next("m")}`;
      await instance().records.write((tx) =>
        instance().outbox.intend(tx, {
          answer: id,
          turn: asId<TurnId>(id),
          session: asId("channels"),
          route: { channel, account, chat },
          text: "This is Lares, trying whether this line works. It does.",
        }),
      );
      await instance().outbox.wake(asId<TurnId>(id));
      return { ...who, sent: true };
    },

    "channels.pending": async () => ({
      pending: (await instance().channels.pairings.list()).map((p) => ({
        code: p.code,
        name: view(p.channel, p.account),
        sender: p.sender,
        ...truthy({ calledThemselves: p.name }),
        askedAt: p.asked_at,
        expiresAt: p.expires_at,
      })),
    }),
    async "channels.approve"({ code, role }, caller) {
      const found = await instance().channels.pairings.approve(code, caller.principal.id, role ?? "known");
      return { name: view(found.channel, found.account), sender: found.sender, role: role ?? "known" };
    },
    async "channels.refuse"({ code }) {
      const found = await instance().channels.pairings.refuse(code);
      return { name: view(found.channel, found.account), sender: found.sender };
    },
    "channels.people": async () => ({
      people: (await instance().channels.pairings.grants()).map((g) => ({
        name: view(g.channel, g.account),
        sender: g.sender,
        ...truthy({ calledThemselves: g.name }),
        context: g.context,
        role: g.role,
        by: g.by,
        at: g.at,
      })),
    }),
    async "channels.revoke"({ name, sender, context }) {
      const [channel = "", account = ""] = name.split("/");
      await instance().channels.pairings.revoke({ channel, account, sender, context: context ?? "direct" });
      return { revoked: true };
    },
  };
}

/** Asks the platform who we are there. A host that takes the connection and then says nothing is named, not waited for. */
async function checked(title: string, open: () => Promise<Channel>): ReturnType<Channel["check"]> {
  const within = AbortSignal.timeout(CHECK_PATIENCE_MS);
  const silent = () =>
    new AppError("CHANNEL_SEND", {
      message: `${title} did not answer within ${CHECK_PATIENCE_MS / 1000} seconds.`,
      hint: "Check the address and the network between, then try again.",
      retry: "later",
    });
  // Not every library listens to the signal.
  const late = new Promise<never>((_, reject) =>
    within.addEventListener("abort", () => reject(silent()), { once: true }),
  );
  late.catch(() => {});
  try {
    return await Promise.race([open().then((one) => one.check(within)), late]);
  } catch (error) {
    throw within.aborted ? silent() : error;
  }
}

function secretName(channel: string, account: string, field: string): string {
  return `CHANNEL_${channel}_${account}_${field}`.replace(/[^A-Za-z0-9]+/g, "_").toUpperCase();
}
