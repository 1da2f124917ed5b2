/** `a2a.peers` in `lares.yaml`: agents of others that yours may ask. */
import { z } from "zod";
import type { DeepReadonly } from "../../../core/kit/index.ts";

export const PEER_NAME = /^[a-z0-9](?:[a-z0-9_-]{0,30}[a-z0-9])?$/;
export const PEER_NAME_RULE = "made of a-z, 0-9, - and _, at most 32, beginning and ending with a letter or digit";

const peerConfig = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).describe("where its card is: the address of its gateway, or of the card itself"),
  token: z
    .string()
    .min(1)
    .max(8192)
    .optional()
    .describe("what it wants to see, sent to this address only; `vault:NAME` takes a stored secret"),
  enabled: z.boolean().default(true).describe("`false`: agents don't find it"),
  hours: z.number().positive().max(720).default(24).describe("how long a task may take before it is given up"),
});

export const peersConfig = z
  .record(z.string().regex(PEER_NAME, PEER_NAME_RULE), peerConfig)
  .default({})
  .describe("Agents of others that yours may ask, by name.");

export type PeerConfig = DeepReadonly<z.infer<typeof peerConfig>>;
export type PeersConfig = Readonly<Record<string, PeerConfig>>;
