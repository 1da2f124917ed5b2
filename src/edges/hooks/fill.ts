/** What of a delivery the agent reads, and whether it reads it at all. Data only: a template holds paths, no code. */
import type { Json } from "../../core/domain/index.ts";
import type { Hook } from "./config.ts";

/** Letters of one filled field, and of all. */
const MOST_FIELD = 4000;
const MOST_TEXT = 12_000;

export interface HookDelivery {
  body: Json;
  headers: Readonly<Record<string, string | undefined>>;
}

/** All conditions hold. */
export function matches(when: Hook["when"], delivery: HookDelivery): boolean {
  return Object.entries(when).every(([path, wanted]) => {
    const value = readPath(delivery, path);
    return (Array.isArray(wanted) ? wanted : [wanted]).some((one) => one === (value ?? null));
  });
}

/** The template with its fields filled in; without one the whole body. */
export function fill(template: string | undefined, delivery: HookDelivery): string {
  if (template === undefined) return cut(JSON.stringify(delivery.body, null, 1), MOST_TEXT);
  const filled = template.replace(/\{\{\s*((?:body|headers)(?:\.[^.\s{}]+)*)\s*\}\}/g, (_all, path: string) => {
    const value = readPath(delivery, path);
    if (value === undefined || value === null) return "(nothing)";
    return cut(typeof value === "string" ? value : JSON.stringify(value), MOST_FIELD);
  });
  return cut(filled, MOST_TEXT);
}

/** Own fields only: no path leads to what an object inherits. */
export function readPath(delivery: HookDelivery, path: string): Json | undefined {
  let here: unknown = delivery;
  for (const part of path.split(".")) {
    if (here === null || typeof here !== "object" || !Object.hasOwn(here, part)) return undefined;
    here = (here as Record<string, unknown>)[part];
  }
  return here as Json | undefined;
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (cut)`;
}
