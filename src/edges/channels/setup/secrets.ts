/** Secret fields of an account: their values go to the vault, the file refers to them. */
import { beginsSecretReference, type Json, type JsonObject, secretReference } from "../../../core/domain/index.ts";

/** The given fields with `vault:NAME` in the place of each secret, whose value `keep` gets. */
export async function hideSecrets(
  of: { channel: string; account: string; secrets: readonly string[] },
  given: Readonly<Record<string, Json>>,
  keep: (name: string, value: string) => Promise<void>,
): Promise<JsonObject> {
  const fields = structuredClone(given) as JsonObject;
  for (const field of of.secrets) {
    const path = field.split(".");
    const value = path.reduce<Json | undefined>((at, key) => (at as JsonObject | undefined)?.[key], fields);
    if (typeof value !== "string" || beginsSecretReference(value) || value.startsWith("${")) continue;
    const name = secretName(of.channel, of.account, field);
    await keep(name, value);
    const last = path.pop()!;
    const holder = path.reduce<Json | undefined>((at, key) => (at as JsonObject)[key], fields);
    (holder as Record<string, Json>)[last] = secretReference(name);
  }
  return fields;
}

export function secretName(channel: string, account: string, field: string): string {
  return `CHANNEL_${channel}_${account}_${field}`.replace(/[^A-Za-z0-9]+/g, "_").toUpperCase();
}
