/** Methods about the models: which providers are set up, trying one, connecting one. */
import { z } from "zod";
import { method, nothing, withIdempotencyKey } from "./method.ts";

const provider = z
  .string()
  .max(64)
  .regex(/^[a-z0-9][a-z0-9_.-]*$/, "lower-case letters, digits, _ . and -");
const api = z.enum(["anthropic", "openai-chat", "openai-responses", "google"]);
/** 8 kB is beyond any provider's key. */
const key = z.string().trim().min(1).max(8192).describe("the API key; it is never returned");
const baseUrl = z.url({ protocol: /^https?$/ }).max(2048);
const model = z.string().trim().min(1).max(256).describe("the provider's own name for it");

// Whether a key is there, and where, but never the key.
const providerInfo = z.object({
  provider: z.string(),
  builtIn: z.boolean().describe("Lares knows its address and protocol"),
  needsKey: z.boolean(),
  ready: z.boolean(),
  from: z.enum(["config", "environment"]).optional(),
  key: z.enum(["vault", "file", "environment", "none"]).optional().describe("where its key is"),
  api,
  baseUrl: z.string().optional(),
  model: z.string().optional().describe("the model it uses by default"),
  models: z.array(z.string()),
});

/** How to reach a provider's model. */
const connection = {
  provider,
  key: key.optional(),
  baseUrl: baseUrl.optional(),
  api: api.optional(),
  model: model.optional(),
};

export const MODEL_METHODS = {
  "models.providers": method({
    in: nothing,
    out: z.object({
      providers: z.array(providerInfo),
      pinned: z.string().optional().describe("LARES_MODEL; it overrides the default in lares.yaml"),
    }),
    scope: "read",
    mutates: false,
    doc: "The providers Lares knows, built in or from the settings, and whether each is set up. Never returns a key.",
  }),
  "models.test": method({
    in: z.strictObject(connection),
    out: z.object({
      ok: z.boolean(),
      ms: z.number(),
      model: z.string(),
      message: z.string().optional(),
      hint: z.string().optional(),
    }),
    scope: "admin",
    mutates: false,
    doc: "Makes one small real request, within 15 s. Nothing is stored. A new address doesn't get the stored key.",
  }),
  // Stores the key in the vault and a reference to it in lares.yaml, so the file can be shown to others.
  "models.connect": method({
    in: z.strictObject({
      ...connection,
      ...withIdempotencyKey,
    }),
    out: z.object({
      provider: z.string(),
      primary: z.string().describe("the model now in use"),
      kept: z.enum(["vault", "none"]).describe("where the key is; the file has a reference to it"),
      where: z.string().describe("the same in words"),
    }),
    scope: "admin",
    mutates: true,
    doc: "Sets a provider up: the key goes to the vault, the rest to lares.yaml. The next message uses it.",
  }),
  "models.disconnect": method({
    in: z.strictObject({ provider, ...withIdempotencyKey }),
    out: z.object({ provider: z.string(), primary: z.string() }),
    scope: "admin",
    mutates: true,
    doc: "Removes a provider from lares.yaml and its key from the vault.",
  }),
} as const;
