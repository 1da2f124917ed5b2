/** Our own part of a plugin's manifest: its code, the rights it asks for, and how it is configured. */
import { z } from "zod";
import { steersPrograms } from "../../../core/kit/index.ts";
import { argument, programToken, variables } from "./server-fields.ts";

/** `api.example.com`, `*.example.com`, either with a port. */
function isHost(given: string): boolean {
  const [name = "", port, ...more] = given.split(":");
  if (more.length > 0 || (port !== undefined && !/^[1-9]\d{0,4}$/.test(port))) return false;
  const labels = (name.startsWith("*.") ? name.slice(2) : name).split(".");
  return labels.every((label) => /^[a-z0-9-]{1,63}$/.test(label) && !label.startsWith("-") && !label.endsWith("-"));
}

const path = z
  .string()
  .min(1)
  .max(4096)
  .refine(
    (given) => given === "workspace" || given.startsWith("/") || given.startsWith("~/"),
    'must be "workspace", or begin with / or ~/',
  );

export const pluginRights = z.strictObject({
  hosts: z
    .array(z.string().max(260).refine(isHost, "must be a host name, such as api.example.com"))
    .max(50)
    .default([]),
  paths: z
    .strictObject({ read: z.array(path).max(50).default([]), write: z.array(path).max(50).default([]) })
    .prefault({}),
  secrets: z
    .array(
      z
        .string()
        .regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, "must be a secret's name, such as WEATHER_KEY")
        .refine((name) => !steersPrograms(name), "changes which code a program runs, so no plugin gets it"),
    )
    .max(50)
    .default([]),
  hooks: z.array(z.string().min(1).max(64)).max(50).default([]),
  tools: z.array(z.string().min(1).max(128)).max(200).default([]),
  /** Prompts of its code that people may type as commands. */
  commands: z
    .array(z.string().regex(/^[\w.-]{1,64}$/, "must be a prompt's name, such as standup"))
    .max(100)
    .default([]),
  /** It passes messages on, for accounts that the owner connects to it. */
  channel: z.boolean().default(false),
  /** It answers as a model, for providers that the owner connects to it. */
  model: z.boolean().default(false),
  /** It looks at something and wakes agents, for watches that the owner sets up with it. */
  watch: z.boolean().default(false),
  /** It finds things when agents search their memory, and hears what is saved and forgotten. */
  memory: z.boolean().default(false),
});

export const ownPart = z.strictObject({
  code: z
    .strictObject({ command: programToken, args: z.array(argument).max(200).default([]), env: variables.default({}) })
    .optional(),
  rights: pluginRights.prefault({}),
  config: z.record(z.string(), z.unknown()).optional(),
});

export type PluginRights = z.output<typeof pluginRights>;
export type OwnPart = z.output<typeof ownPart>;
