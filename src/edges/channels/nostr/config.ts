import { z } from "zod";
import { isLoopbackHost } from "../../../core/kit/index.ts";
import { adapter, paceShape, talkShape } from "../account.ts";

const relay = z.string().refine(isRelay, "an address such as wss://relay.example.org");

/** Encrypted, or on this machine. */
function isRelay(address: string): boolean {
  if (/\s/.test(address) || !URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === "wss:" || (protocol === "ws:" && isLoopbackHost(hostname));
}

const account = z
  .strictObject({
    secretKey: z
      .string()
      .regex(/^(nsec1[a-z0-9]{58}|[0-9a-f]{64})$/, "a key such as nsec1…, or 64 hexadecimal digits")
      .describe("The bot's secret key. Create a new one for it."),
    relays: z
      .array(relay)
      .min(1)
      .max(8)
      .describe("The relays the bot reads from and writes to. People reach it there."),
    ...paceShape(500),
    ...talkShape,
  })
  .describe("One Nostr key, by private messages (NIP-17).");

export type NostrAccount = z.output<typeof account>;

export const nostr = adapter<NostrAccount>({
  name: "nostr",
  title: "Nostr",
  config: account as z.ZodType<NostrAccount>,
  secrets: ["secretKey"],
  asks: [
    { field: "secretKey", what: "The bot's secret key (nsec1…); create a new one for it" },
    { field: "relays", what: "A relay, such as wss://relay.example.org" },
  ],
  packages: ["nostr-tools@2.25.2"],
  can: (config) => ({
    dialect: "nostr",
    limit: 16_000,
    unit: "bytes",
    // Nostr takes no idempotency key, but our own copy on the relays carries it (see `find`).
    dedupes: false,
    buttons: 0,
    files: 0,
    hears: ["reactions"],
    does: [],
    pace: { chatMs: config.paceMs, accountMs: Math.min(config.paceMs, 100) },
    silenceMs: 90_000,
  }),
  load: async () => await import("./nostr.ts"),
});
