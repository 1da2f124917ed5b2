/** Methods about secrets people keep in the vault. No method returns a value. */
import { z } from "zod";
import { method, nothing, withIdempotencyKey } from "./method.ts";
import { agentId } from "./shapes.ts";

const name = z.string().min(1).max(128).describe("letters, digits and _, beginning with a letter");
// A secret is useless until an agent's commands get it, so every answer says which do.
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
    doc: "The names of the secrets in the vault, and which agents get them. Never returns a value.",
  }),
  "secrets.set": method({
    in: z.strictObject({ name, value: z.string().min(1).max(65_536), ...withIdempotencyKey }),
    out: z.object({ name: z.string(), replaced: z.boolean(), where: z.string() }),
    scope: "admin",
    mutates: true,
    doc: "Stores a secret in the vault, or changes its value. It takes effect immediately.",
  }),
  "secrets.remove": method({
    in: z.strictObject({ name, ...withIdempotencyKey }),
    out: z.object({ removed: z.boolean(), agents: z.array(z.string()).describe("who no longer gets it") }),
    scope: "admin",
    mutates: true,
    doc: "Removes a secret and its grants from the vault. Refused while lares.yaml refers to it.",
  }),
  "secrets.grant": method({
    in: z.strictObject({ name, agent: agentId, ...withIdempotencyKey }),
    out: granted,
    scope: "admin",
    mutates: true,
    doc: "Gives this agent's commands the secret as a variable of the same name.",
  }),
  "secrets.revoke": method({
    in: z.strictObject({ name, agent: agentId, ...withIdempotencyKey }),
    out: granted,
    scope: "admin",
    mutates: true,
    doc: "Stops giving the secret to this agent's commands.",
  }),
  // The vault's own key. In the keyring it is encrypted with the person's login; a file also works on servers.
  "secrets.keyring": method({
    in: z.strictObject({ use: z.boolean(), ...withIdempotencyKey }),
    out: z.object({ where: z.string() }),
    scope: "admin",
    mutates: true,
    doc: "Moves the vault's key into the OS keyring (libsecret, macOS), or back into a file. Without a keyring it is refused and nothing changes.",
  }),
};
