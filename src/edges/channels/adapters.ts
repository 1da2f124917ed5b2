/** The channels Lares knows. Entries are light: what an adapter needs is imported when an account of it is opened. */
import { join } from "node:path";
import { z } from "zod";
import type { AccountPolicy, Capabilities, Channel } from "../../core/contracts/index.ts";
import { PULLED, toAccountName, type Unreachable } from "../../core/domain/index.ts";
import { type Clock, defined, type Log } from "../../core/kit/index.ts";
import { type AdapterEntry, type AskPluginChannel, accountName, type TalkConfig, toPolicy } from "./account.ts";
import { discord } from "./discord/config.ts";
import { email } from "./email/config.ts";
import { external } from "./external/config.ts";
import { irc } from "./irc/config.ts";
import type { Libraries } from "./library.ts";
import { matrix } from "./matrix/config.ts";
import { mattermost } from "./mattermost/config.ts";
import { nostr } from "./nostr/config.ts";
import { signal } from "./signal/config.ts";
import { slack } from "./slack/config.ts";
import { teams } from "./teams/config.ts";
import { telegram } from "./telegram/config.ts";
import { webhook } from "./webhook/config.ts";
import { whatsapp } from "./whatsapp/config.ts";
import { whatsappWeb } from "./whatsapp-web/config.ts";
import { xmpp } from "./xmpp/config.ts";

// One per line, so that two people who add one don't cause a conflict.
const TABLE = [
  telegram,
  teams,
  slack,
  discord,
  matrix,
  mattermost,
  signal,
  whatsapp,
  whatsappWeb,
  webhook,
  email,
  irc,
  xmpp,
  nostr,
  external,
];

// biome-ignore lint/suspicious/noExplicitAny: entries of different accounts in one table
export const ADAPTERS: Readonly<Record<string, AdapterEntry<any>>> = Object.fromEntries(
  TABLE.map((entry) => [entry.name, entry]),
);

type Accounts = Record<string, Record<string, unknown>>;

export const channelsConfig: z.ZodType<Accounts, { [channel: string]: Accounts[string] | undefined } | undefined> = z
  .strictObject(
    Object.fromEntries(
      Object.values(ADAPTERS).map((entry) => [
        entry.name,
        z.record(accountName, entry.config).default({}).describe(`${entry.title} accounts by name.`),
      ]),
    ),
  )
  .prefault({})
  .describe("The channels people talk through.");

/** One configured account: what it can do, who may talk, and how its channel is opened. */
export interface ConfiguredAccount {
  channel: string;
  account: string;
  enabled: boolean;
  can: Capabilities;
  policy: AccountPolicy;
  fingerprint: string;
  open(): Promise<Channel>;
}

export interface OpeningParts {
  home: string;
  clock: Clock;
  log: Log;
  libraries: Libraries;
  askPlugin?: AskPluginChannel;
}

/** Where an account stores what must be a file. */
export function accountFolder(home: string, at: { channel: string; account: string }): string {
  return join(home, "channels", at.channel, at.account);
}

/**
 * Why messages can't go there as the file says, not by who is connected: at a start, and while a platform is away, a route is
 * still a route. An answer that is pulled always can.
 */
export function whyUnreachable(
  accounts: Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>,
  { channel, account }: { channel: string; account: string },
): Unreachable | undefined {
  if (PULLED.has(channel)) return undefined;
  const own = accounts[channel]?.[account] as { enabled?: boolean } | undefined;
  if (own === undefined) return "unknown";
  return own.enabled === false ? "off" : undefined;
}

export function configuredAccounts(config: Accounts, parts: OpeningParts): ConfiguredAccount[] {
  return Object.entries(config).flatMap(([channel, accounts]) =>
    Object.entries(accounts).map(([account, own]) => configured(ADAPTERS[channel]!, account, own, parts)),
  );
}

export function configured(
  // biome-ignore lint/suspicious/noExplicitAny: the entry knows its own account
  entry: AdapterEntry<any>,
  account: string,
  config: unknown,
  parts: OpeningParts,
): ConfiguredAccount {
  const can = entry.can(config);
  return {
    channel: entry.name,
    account,
    enabled: (config as { enabled?: boolean }).enabled !== false,
    can,
    policy: entry.policy?.(config) ?? toPolicy(config as TalkConfig),
    fingerprint: JSON.stringify(config),
    open: async () =>
      (await entry.load()).create({
        account,
        config,
        can,
        clock: parts.clock,
        log: parts.log.child(toAccountName({ channel: entry.name, account })),
        folder: () => accountFolder(parts.home, { channel: entry.name, account }),
        library: (name) => parts.libraries.load(name),
        ...defined({ askPlugin: parts.askPlugin }),
      }),
  };
}
