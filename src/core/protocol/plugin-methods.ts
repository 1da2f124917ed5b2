/** Methods about plugins: folders of others with skills, tools and hooks. */
import { z } from "zod";
import { method, nothing, withIdempotencyKey } from "./method.ts";

const name = z.string().min(1).max(64).describe("the plugin's name");
const digest = z.string().regex(/^[0-9a-f]{64}$/, "a digest of 64 hexadecimal digits");
const lines = z.array(z.string());

const plugin = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  digest: z.string().describe("of all its files"),
  from: z.string().describe("where it was installed from"),
  state: z
    .enum(["on", "off", "failed", "broken"])
    .describe("failed: Lares switched it off; broken: it can't be used as it is"),
  why: z.string().optional().describe("why it isn't on, or what it lacks"),
  rights: lines.describe("what it may do, a line each"),
  servers: lines.describe("the MCP servers it brings"),
  skills: lines,
  hooks: lines.describe("the events it hears"),
  offers: lines.describe("what it brings, counted, such as 2 tools"),
  notes: lines.describe("what is wrong with it and left out"),
});

const change = z.object({ added: lines, removed: lines });
const staged = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  digest: z.string().describe("of all its files; a yes is bound to it"),
  from: z.string(),
  exactly: z.string().optional().describe("the commit or version that was taken"),
  files: z.number().describe("how many files it has"),
  rights: lines.describe("what it asks for, a line each"),
  skills: lines,
  notes: lines.describe("what is wrong with it and left out"),
  findings: z.array(z.object({ path: z.string(), what: z.string() })).describe("what the scan found"),
  confined: z.string().describe("how its programs are confined here"),
  changes: z
    .object({ version: z.string(), rights: change, files: change.extend({ changed: lines }) })
    .optional()
    .describe("against the installed version"),
});

export const PLUGIN_METHODS = {
  "plugins.list": method({
    in: nothing,
    out: z.object({ plugins: z.array(plugin).describe("by name") }),
    scope: "read",
    mutates: false,
    doc: "The installed plugins, how each is, and what it may do. Starts nothing.",
  }),
  // Staging and accepting are two methods, so that what a person sees is what they say yes to.
  "plugins.stage": method({
    in: z.strictObject({
      from: z
        .string()
        .min(1)
        .max(4096)
        .optional()
        .describe("a folder or archive on this machine, an https archive, a git address, or npm:NAME"),
      name: name.optional().describe("instead: get this installed plugin again from where it came from"),
      ...withIdempotencyKey,
    }),
    out: staged,
    scope: "admin",
    mutates: true,
    doc: "Gets a plugin into quarantine and says what it is and what it asks for. Nothing of it is used or run.",
  }),
  "plugins.accept": method({
    in: z.strictObject({ digest: digest.describe("of the plugin that was staged"), ...withIdempotencyKey }),
    out: plugin,
    scope: "admin",
    mutates: true,
    doc: "Installs or updates the staged plugin with this digest, with the rights that were shown, and switches it on.",
  }),
  "plugins.discard": method({
    in: z.strictObject({ digest, ...withIdempotencyKey }),
    out: z.object({ discarded: z.literal(true) }),
    scope: "admin",
    mutates: true,
    doc: "Removes a staged plugin.",
  }),
  "plugins.enable": method({
    in: z.strictObject({ name, ...withIdempotencyKey }),
    out: plugin,
    scope: "admin",
    mutates: true,
    doc: "Switches a plugin on, also one that Lares switched off.",
  }),
  "plugins.disable": method({
    in: z.strictObject({ name, ...withIdempotencyKey }),
    out: plugin,
    scope: "admin",
    mutates: true,
    doc: "Switches a plugin off: its programs end, and its tools, skills and hooks are gone until it is on again.",
  }),
  "plugins.remove": method({
    in: z.strictObject({
      name,
      deleteData: z.boolean().optional().describe("also delete what it stored"),
      ...withIdempotencyKey,
    }),
    out: z.object({ removed: z.literal(true) }),
    scope: "admin",
    mutates: true,
    doc: "Removes a plugin. What it stored stays unless you ask for it to be deleted.",
  }),
  "plugins.doctor": method({
    in: z.strictObject({ name: name.optional() }),
    out: z.object({ plugins: z.array(z.object({ name: z.string(), problems: lines })) }),
    scope: "admin",
    mutates: false,
    doc: "Checks plugins: their files against their digests, their settings, their secrets. Starts nothing.",
  }),
} as const;
