/** The bot's key pair, and what the library does with it: sign, wrap and unwrap. */
import { AppError } from "../../../core/domain/index.ts";
import type { NostrEvent } from "./connection.ts";

export type NostrTools = typeof import("nostr-tools");
/** An event that isn't signed: what is inside a seal. */
export type Rumor = Omit<NostrEvent, "sig">;
type Draft = Pick<NostrEvent, "kind" | "created_at" | "tags" | "content">;

export interface Keys {
  /** Our public key. */
  me: string;
  npub(hex: string): string;
  hex(npub: string): string;
  sign(draft: Draft): NostrEvent;
  /** For the person with this public key. */
  wrap(draft: Draft, to: string): NostrEvent;
  /** The id that the draft has inside its wraps. */
  computeId(draft: Draft): string;
  /** Undefined when it isn't for us, or not from whom it says (the library checks the seal). */
  unwrap(wrap: NostrEvent): Rumor | undefined;
}

export function readKeys(tools: NostrTools, secretKey: string): Keys {
  const { nip19, nip59 } = tools;
  const secret = readSecret(tools, secretKey);
  return {
    me: tools.getPublicKey(secret),
    npub: (hex) => nip19.npubEncode(hex),
    hex: (npub) => nip19.decode(npub as `npub1${string}`).data,
    sign: (draft) => tools.finalizeEvent(draft, secret) as NostrEvent,
    wrap: (draft, to) => nip59.wrapEvent(draft, secret, to) as NostrEvent,
    computeId: (draft) => nip59.createRumor(draft, secret).id,
    unwrap(wrap) {
      try {
        const rumor = nip59.unwrapEvent(wrap, secret) as Rumor;
        // A message is known by its id, so the id is computed and not believed.
        return { ...rumor, id: tools.getEventHash(rumor) };
      } catch {
        return undefined;
      }
    },
  };
}

function readSecret({ nip19, getPublicKey }: NostrTools, secretKey: string): Uint8Array {
  try {
    const secret = secretKey.startsWith("nsec1")
      ? nip19.decode(secretKey as `nsec1${string}`).data
      : Uint8Array.from(Buffer.from(secretKey, "hex"));
    // Throws when the number is no key.
    getPublicKey(secret);
    return secret;
  } catch (cause) {
    throw new AppError("CONFIG_INVALID", {
      message: "The secret key of the Nostr account isn't a valid key.",
      hint: "Enter it again: lares channels add nostr",
      retry: "after-change",
      cause,
    });
  }
}
