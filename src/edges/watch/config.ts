import { z } from "zod";
import type { DeepReadonly } from "../../core/kit/index.ts";
import { deliverTo, wokenShape } from "../../core/protocol/index.ts";

const every = (seconds: number, least: number) =>
  z.number().min(least).max(86_400).default(seconds).describe(`Seconds between two checks. Default: ${seconds}`);

const common = {
  ...wokenShape("time something is new"),
  prompt: z.string().max(8000).optional().describe("What the agent should do about it, in your words."),
  deliver: deliverTo.optional().describe("Where the answer goes. Without it, the answer is only in the history."),
};

const feed = z
  .strictObject({
    kind: z.literal("feed"),
    url: z.url({ protocol: /^https?$/ }).describe("An RSS or Atom feed."),
    everySeconds: every(900, 0.2),
    ...common,
  })
  .describe("New entries of a feed.");

const page = z
  .strictObject({
    kind: z.literal("page"),
    url: z.url({ protocol: /^https?$/ }).describe("A page or file."),
    everySeconds: every(900, 0.2),
    ...common,
  })
  .describe("Changes of a page's text.");

const files = z
  .strictObject({
    kind: z.literal("files"),
    path: z
      .string()
      .regex(/^\//, "a whole path, beginning with /")
      .describe("A file or folder; of a folder everything in it, at most 2000 files."),
    everySeconds: every(5, 0.2),
    ...common,
  })
  .describe("Files that appear, change or disappear. The agent gets their names, not their contents.");

const imap = z
  .strictObject({
    kind: z.literal("imap"),
    host: z.string().min(1),
    port: z.number().int().min(1).max(65_535).default(993),
    secure: z.boolean().default(true).describe("TLS from the first byte. false: STARTTLS where the server has it."),
    allowPlain: z.boolean().default(false).describe("true: a password may go over a connection without TLS."),
    user: z.string().min(1),
    password: z.string().min(1).describe("A reference to the vault or a variable is best."),
    folder: z.string().default("INBOX"),
    everySeconds: every(60, 0.2),
    ...common,
  })
  .describe("New mails of a folder: sender, subject and the beginning of the text. Nothing is changed there.");

const plugin = z
  .strictObject({
    kind: z.literal("plugin"),
    plugin: z.string().min(1).max(64).describe("The plugin that looks. Example: disk"),
    about: z.string().max(1000).default("").describe("What it should look at, in words that the plugin understands."),
    everySeconds: every(300, 0.2),
    ...common,
  })
  .describe("What a plugin finds.");

export const watchConfig = z
  .record(
    z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "made of a-z, 0-9 and -"),
    z.discriminatedUnion("kind", [feed, page, files, imap, plugin]),
  )
  .default({})
  .describe("Things to watch, by name. What exists at the first check counts as known and wakes nobody.");

export type WatchConfig = DeepReadonly<z.output<typeof watchConfig>>;
export type Watched = WatchConfig[string];
