/** Which agent or model a request's `model` means. What nobody here can ask is refused at once, with the names that are known. */
import { AppError } from "../../../core/domain/index.ts";
import type { Caller, GatewayParts } from "../ports.ts";

export type Chosen = { agent?: string; model?: string };

/** Enough to choose from; the whole list is one request away. */
const MOST_NAMES = 12;

export async function chosen(parts: GatewayParts, name: string, caller: Caller): Promise<Chosen> {
  if (name === "lares") return {};
  const handlers = parts.handlers;
  const [{ models }, { agents }] = await Promise.all([
    handlers["models.list"]({}, caller),
    handlers["agents.list"]({}, caller),
  ]);
  const agent = /^lares\/(.+)$/.exec(name)?.[1];
  if (agent !== undefined && agents.some((one) => one.agent === agent)) return { agent };
  const slash = name.indexOf("/");
  if (agent === undefined && slash > 0) {
    const provider = name.slice(0, slash);
    // A provider has more models than we know of; it says itself when it has no such one.
    if (models.some((one) => one.id === name || (one.provider === provider && !one.practice))) return { model: name };
  }
  const byName = slash < 0 ? models.find((one) => one.id.endsWith(`/${name}`)) : undefined;
  if (byName) return { model: byName.id };
  const names = ["lares", ...agents.map((one) => `lares/${one.agent}`), ...models.map((one) => one.id)];
  throw unknownModel(name, names);
}

export function unknownModel(name: string, names: readonly string[]): AppError {
  const more = names.length - MOST_NAMES;
  const shown = names.slice(0, MOST_NAMES).join(", ");
  return new AppError("MODEL_UNKNOWN", {
    message: `There is no model "${name}".`,
    hint: `Known: ${shown}${more > 0 ? `, and ${more} more in GET /v1/models` : ""}.`,
    details: { field: "model" },
  });
}
