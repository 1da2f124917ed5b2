/** What every channel account has in its configuration: who may talk, in which groups, and how much. */
import { z } from "zod";
import type { AccountPolicy, Capabilities, Channel } from "../../core/contracts/index.ts";
import type { Clock, Log } from "../../core/kit/index.ts";
import { truthy } from "../../core/kit/index.ts";

export const accountName = z.string().regex(/^[a-z0-9][a-z0-9-]*$/, "lowercase letters, digits and dashes");

const ids = z.array(z.string().min(1).max(256));

export const limitsShape = {
  maxMessagesPerHour: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("Messages an hour from everyone together. Default: 600 in one chat, not counting the owner's."),
  maxMessagesPerUser: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("Messages an hour from one person. Default: 120, not counting the owner's."),
  maxTokensPerDay: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("Tokens in 24 hours. After that, messages are politely declined."),
};

const group = z.strictObject({
  allow: ids
    .default([])
    .describe('Stable ids that may talk in this group. "*" is every member; an empty list is nobody.'),
  mention: z.boolean().default(true).describe("Whether to take only messages that mention the bot or reply to it."),
  agent: z.string().optional().describe("The agent that answers in this group."),
  tools: z.array(z.string()).optional().describe("The tools its turns may use. Default: the agent's."),
});

/** Spread into the adapter's own fields: `z.strictObject({ token: …, ...talkShape })`. */
export const talkShape = {
  enabled: z.boolean().default(true).describe("False keeps the account in the file but doesn't connect it."),
  dm: z
    .enum(["pairing", "allowlist", "open", "off"])
    .default("pairing")
    .describe(
      "What happens to direct messages from people who aren't listed: `pairing` offers a code, `allowlist` refuses them, `open` takes them all, `off` takes no direct messages at all.",
    ),
  allow: ids.default([]).describe("Stable ids of people who may send direct messages. Names are not ids."),
  owners: ids.default([]).describe("Your own stable ids: they may write and answer approvals."),
  groups: z
    .record(z.string(), group)
    .default({})
    .describe('Groups by chat id; "*" stands for all others. A group not listed here is ignored.'),
  bots: z.boolean().default(false).describe("Whether to take messages from other bots."),
  live: z
    .boolean()
    .default(true)
    .describe("Whether answers appear while they are being written, if the platform can edit messages."),
  limits: z.strictObject(limitsShape).default({}).describe("How much this account takes in."),
};

/** How fast messages leave, for platforms that say how fast they take them. */
export const paceShape = (ms: number) => ({
  paceMs: z
    .number()
    .int()
    .min(0)
    .max(3_600_000)
    .default(ms)
    .describe("The shortest time between two messages to one chat, in ms."),
});

/** For adapters that can react. */
export const acknowledgeShape = {
  acknowledge: z
    .string()
    .min(1)
    .max(32)
    .optional()
    .describe("An emoji set on a message while it is being worked on, such as 👀. Default: none."),
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
    dm,
    allow,
    owners,
    bots,
    live,
    limits,
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
  /** The account's own folder in the home, for what must be a file. It is deleted when the account is removed. */
  folder(): string;
  /** A library named in `packages`, from Lares's own packages or from the home. */
  library<T>(name: string): Promise<T>;
  /** For accounts that a plugin passes messages on for. */
  askPlugin?: AskPluginChannel;
}

/** Asks a plugin that passes messages on. Throws when it is off, wasn't granted that, or doesn't answer. */
export type AskPluginChannel = (
  to: { plugin: string; right: "channel" },
  method: string,
  params: object,
  signal: AbortSignal,
) => Promise<unknown>;

/** The adapter's own module: everything that needs a library. */
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
  /** Fields that are secrets: they are stored in the vault, and the file refers to them. */
  secrets: readonly string[];
  /** Fields a person is asked for, in order, with where to get them. */
  asks: readonly { field: string; what: string }[];
  /** Packages with their versions (`imapflow@2.1.2`) that are installed when the channel is added. */
  packages?: readonly string[];
  can(config: C): Capabilities;
  policy?(config: C): AccountPolicy;
  load(): Promise<Adapter<C>>;
}

/** Infers the account's type, so that an entry is checked against its own configuration. */
export function adapter<C>(entry: AdapterEntry<C>): AdapterEntry<C> {
  return entry;
}
