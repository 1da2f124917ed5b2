/** Methods about secrets people keep in the vault. No method returns a value. */
import { z } from "zod";
import { method, nothing, withIdempotencyKey } from "./method.ts";
import { agentId } from "./shapes.ts";

const name = z.string().min(1).max(128).describe("letters, digits and _, beginning with a letter");
const granted = z.object({ name: z.string(), agents: z.array(z.string()).describe("whose commands get it") });

export const SECRET_METHODS = {
  "secrets.list": method({
    in: nothing,
    out: z.object({
      secrets: z.array(
        z.object({
          name: z.string(),
          setAt: z.number(),
          agents: z.array(z.string()).describe("whose commands get it as a variable of this name"),
        }),
      ),
      missing: z.array(granted).describe("granted, but not in the vault"),
      where: z.string().describe("where the vault's key is, in words"),
    }),
    scope: "admin",
    mutates: false,
    doc: "The names of the secrets in the vault, and which agents get them. Never a value.",
  }),
  "secrets.set": method({
    in: z.strictObject({ name, value: z.string().min(1).max(65_536), ...withIdempotencyKey }),
    out: z.object({ name: z.string(), replaced: z.boolean(), where: z.string() }),
    scope: "admin",
    mutates: true,
    doc: "Puts a secret into the vault, or gives one another value. It counts at once.",
  }),
  "secrets.remove": method({
    in: z.strictObject({ name, ...withIdempotencyKey }),
    out: z.object({ removed: z.boolean(), agents: z.array(z.string()).describe("who no longer gets it") }),
    scope: "admin",
    mutates: true,
    doc: "Takes a secret out of the vault, and its grants with it. Refused while lares.yaml refers to it.",
  }),
  "secrets.grant": method({
    in: z.strictObject({ name, agent: agentId, ...withIdempotencyKey }),
    out: granted,
    scope: "admin",
    mutates: true,
    doc: "From now on this agent's commands get the secret as a variable of its name.",
  }),
  "secrets.revoke": method({
    in: z.strictObject({ name, agent: agentId, ...withIdempotencyKey }),
    out: granted,
    scope: "admin",
    mutates: true,
    doc: "This agent's commands no longer get the secret.",
  }),
  "secrets.keyring": method({
    in: z.strictObject({ use: z.boolean(), ...withIdempotencyKey }),
    out: z.object({ where: z.string() }),
    scope: "admin",
    mutates: true,
    doc: "Moves the vault's key into the OS keyring (libsecret, macOS), or back into a file. Refused, with nothing changed, where there is none.",
  }),
};
