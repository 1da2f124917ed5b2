/** What every account of every channel has in its configuration: who may talk, in which groups, how much. */
import { z } from "zod";
import type { AccountPolicy, Capabilities, Channel } from "../../core/contracts/index.ts";
import type { Clock, Log } from "../../core/kit/index.ts";
import { truthy } from "../../core/kit/index.ts";

export const accountName = z.string().regex(/^[a-z0-9][a-z0-9-]*$/, "small letters, digits and dashes");

const ids = z.array(z.string().min(1).max(256));

export const limitsShape = {
  maxMessagesPerHour: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("Messages an hour from everybody together. Default: 600 in one chat, the owner's not counted."),
  maxMessagesPerUser: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("Messages an hour from one person. Default: 120, the owner's not counted."),
  maxTokensPerDay: z.number().int().positive().optional().describe("Tokens in 24 hours; after that a polite no."),
};

const group = z.strictObject({
  allow: ids
    .default([])
    .describe('Stable ids that may talk in this group; "*" is every member, an empty list is nobody.'),
  mention: z.boolean().default(true).describe("Only messages that name the bot or answer it."),
  agent: z.string().optional().describe("Who answers in this group."),
  tools: z.array(z.string()).optional().describe("Tools its turns may use; without it, the agent's."),
});

/** Joined with the adapter's own fields: `z.strictObject({ token: …, ...talkShape })`. */
export const talkShape = {
  enabled: z.boolean().default(true).describe("False keeps the account in the file without connecting it."),
  dm: z
    .enum(["pairing", "allowlist", "open", "off"])
    .default("pairing")
    .describe("Direct messages of people not listed: a pairing code, no, yes to everybody, or none at all."),
  allow: ids.default([]).describe("Stable ids of people who may write directly. Names are not ids."),
  owners: ids.default([]).describe("Stable ids that are you: they may write and answer approvals."),
  groups: z
    .record(z.string(), group)
    .default({})
    .describe('Groups by chat id; "*" stands for all others. A group not listed is not listened to.'),
  bots: z.boolean().default(false).describe("Whether other bots are listened to."),
  live: z.boolean().default(true).describe("Answers appear while they are written, where the platform can edit."),
  limits: z.strictObject(limitsShape).default({}).describe("How much is taken through this account."),
};

/** How fast messages leave, for platforms that say how fast they take them. */
export const paceShape = (ms: number) => ({
  paceMs: z.number().int().min(0).default(ms).describe("Shortest time between two messages to one chat, in ms."),
});

/** For adapters that can react. */
export const acknowledgeShape = {
  acknowledge: z
    .string()
    .min(1)
    .max(32)
    .optional()
    .describe("An emoji set on a message while it is worked on, such as 👀. Without it, none."),
};

export type TalkConfig = z.output<z.ZodObject<typeof talkShape>>;

export function toPolicy(config: TalkConfig & { acknowledge?: string | undefined }): AccountPolicy {
  const { dm, allow, owners, groups, bots, live, acknowledge, limits } = config;
  const plain = Object.entries(groups).map(([id, g]) => [
    id,
    {
      allow: g.allow,
      mention: g.mention,
      ...truthy({ agent: g.agent, tools: g.tools }),
    },
  ]);
  return {
    ...{ dm, allow, owners, bots, live, limits },
    groups: Object.fromEntries(plain) as AccountPolicy["groups"],
    ...truthy({ acknowledge }),
  };
}

/** What an adapter is given to build its channel. It reads no environment and no clock of its own. */
export interface AdapterParts<C> {
  account: string;
  config: C;
  can: Capabilities;
  clock: Clock;
  log: Log;
  /** A folder of the account's own in the home, for what must be a file. It goes when the account is removed. */
  folder(): string;
  /** A library named in `packages`, from beside Lares or from the home. */
  library<T>(name: string): Promise<T>;
}

/** The adapter's own module: all that pulls in a library. */
export interface Adapter<C> {
  create(parts: AdapterParts<C>): Channel;
}

/**
 * One channel in the table: light, without its library. The module behind `load` is imported when an account is configured.
 */
export interface AdapterEntry<C = never> {
  /** As in the file: `channels.<name>`. */
  name: string;
  title: string;
  /** One account. */
  config: z.ZodType<C>;
  /** Fields that are secrets: kept in the vault, the file refers to them. */
  secrets: readonly string[];
  /** Fields a person is asked for, in order, with where to get them. */
  asks: readonly { field: string; what: string }[];
  /** Packages with their versions (`imapflow@2.1.2`) that are installed when the channel is added. */
  packages?: readonly string[];
  can(config: C): Capabilities;
  policy?(config: C): AccountPolicy;
  load(): Promise<Adapter<C>>;
}

/** Keeps the types of an entry together while it is written down. */
export function adapter<C>(entry: AdapterEntry<C>): AdapterEntry<C> {
  return entry;
}
