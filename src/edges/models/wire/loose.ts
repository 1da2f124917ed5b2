/** Fields of what a provider sent, read without trusting their types. */

export type Loose = Record<string, unknown>;

export function record(value: unknown): Loose | undefined {
  return typeof value === "object" && value !== null ? (value as Loose) : undefined;
}

/** The objects in a list; anything else counts as none. */
export function records(value: unknown): Loose[] {
  return Array.isArray(value) ? value.filter((one): one is Loose => record(one) !== undefined) : [];
}

export function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
