/**
 * A linked device's credentials, stored by the door. Every change is durable before the library goes on with it: a key that was
 * used and then lost makes messages unreadable for good.
 */
import type { Json } from "../../../core/domain/index.ts";
import type { CredentialKeeper, Credentials, KeyStore, Library } from "./library.ts";

export interface Stored {
  creds: Credentials;
  keys: KeyStore;
  save(): Promise<void>;
}

export async function loadCredentials(keeper: CredentialKeeper, library: Library): Promise<Stored> {
  const kept = await keeper.kept("creds");
  const creds = (kept === undefined ? library.newCredentials() : fromJson(kept)) as Credentials;
  return {
    creds,
    save: () => keeper.keep("creds", toJson(creds)),
    keys: {
      async get(type, ids) {
        const found = await Promise.all(
          ids.map(async (id) => {
            const value = await keeper.kept(keyName(type, id));
            return [id, value === undefined ? undefined : library.revive(type, fromJson(value))] as const;
          }),
        );
        return Object.fromEntries(found.filter(([, value]) => value !== undefined));
      },
      async set(data) {
        const changes = Object.entries(data).flatMap(([type, values]) =>
          Object.entries(values ?? {}).map(([id, value]) =>
            keeper.keep(keyName(type, id), value === null || value === undefined ? undefined : toJson(value)),
          ),
        );
        await Promise.all(changes);
      },
    },
  };
}

function keyName(type: string, id: string): string {
  return `key:${type}:${id}`;
}

/** Bytes are written as {"$bytes": base64}; everything else as JSON writes it. */
export function toJson(value: unknown): Json {
  const text = JSON.stringify(value, function (this: Record<string, unknown>, name: string, plain: unknown) {
    // A Buffer has turned itself into an object by now; its holder still has it.
    const real = this[name];
    return real instanceof Uint8Array ? { $bytes: Buffer.from(real).toString("base64") } : plain;
  });
  return JSON.parse(text) as Json;
}

export function fromJson(value: Json): unknown {
  return JSON.parse(JSON.stringify(value), (_, one: unknown) => {
    const bytes = (one as { $bytes?: unknown } | null)?.$bytes;
    return typeof bytes === "string" ? Buffer.from(bytes, "base64") : one;
  });
}
