/**
 * Servers of other programs and of repositories, taken over when the owner says so. A definition is copied: what its file says
 * later changes nothing here.
 *
 * MCP-18: nothing is added without a yes to exactly this definition. The yes names a digest of command, arguments, variables and
 *     address; a file that changed after it was shown has another digest, and the yes is worth nothing.
 */
import { resolve } from "node:path";
import { readSecretReference } from "../../../../core/domain/index.ts";
import type { ServerConfig } from "../config.ts";
import { digestJson } from "../listed/manifest.ts";
import { type AddPort, addServer } from "./add.ts";
import { hideSecrets, secretsIn } from "./hide.ts";
import { readPastedValue, tellEmpty } from "./paste.ts";
import { fillPlaceholders, type NeededSecret, tellNeeds } from "./placeholders.ts";
import { readSource, type ServerFile } from "./sources.ts";

export interface Importable {
  /** Of exactly this definition in this file: what a yes names. */
  id: string;
  name: string;
  product: string;
  file: string;
  /** `changed`: a server of this name is there with another definition. */
  state: "new" | "changed" | "there already" | "left out";
  /** Its program with all arguments, or its address; keys are left out. */
  target?: string;
  /** The variables and headers it gets, by name. */
  gets: string[];
  why?: string;
  /** Secrets that it needs first. */
  needs?: NeededSecret[];
}

export interface Imported {
  items: Importable[];
  added: string[];
  notes: string[];
}

interface Candidate extends Importable {
  config?: ServerConfig;
}

/** `yes`: what the owner agreed to, by id. */
export async function importServers(
  port: AddPort,
  { sources, yes = [] }: { sources: readonly ImportFrom[]; yes?: readonly string[] | undefined },
): Promise<Imported> {
  const items: Candidate[] = [];
  const notes: string[] = [];
  for (const source of sources) items.push(...(await look(port, source, notes)));
  const added: string[] = [];
  for (const item of items) {
    if (!yes.includes(item.id) || !item.config || item.state === "there already") continue;
    notes.push(...(await addServer(port, item.name, item.config)));
    added.push(item.name);
  }
  const missing = yes.filter((id) => !items.some((item) => item.id === id)).length;
  if (missing > 0) notes.push(`${missing} of them changed since you looked and were not added. Look again.`);
  return { items: items.map(({ config: _config, ...item }) => item), added, notes };
}

/** `isNamed`: by the owner, who then learns why there is nothing in it. */
type ImportFrom = ServerFile & { isNamed?: true };

async function look(port: AddPort, { product, path, isNamed }: ImportFrom, notes: string[]): Promise<Candidate[]> {
  const file = resolve(path);
  const read = await readSource(file);
  if (!read) return [];
  const leftOut = (name: string, why: string): Candidate => ({
    id: digestJson([file, name, why]),
    name,
    product,
    file,
    state: "left out",
    gets: [],
    why,
  });
  if ("why" in read) return [leftOut("(file)", read.why)];
  const found = readPastedValue(read.value);
  notes.push(...found.notes);
  // A file without servers is the usual case for settings that hold other things, too.
  if (found.servers.length + found.refused.length === 0) return isNamed ? [leftOut("(file)", tellEmpty(found))] : [];
  const usable = found.servers.map(({ name, config: written }): Candidate => {
    const { config, why, needs } = fillPlaceholders(name, written, { place: port, questions: found.questions });
    const hidden = hideSecrets(name, config, port).config;
    const target = hidden.url ?? [hidden.command, ...hidden.args].join(" ");
    const shown = { name, product, file, target, gets: tellValues({ ...config.env, ...config.headers }) };
    const reason = why ?? tellNeeds(needs);
    const id = digestJson([file, name, JSON.stringify(config)]);
    if (reason !== undefined) {
      return { ...shown, id, state: "left out", why: reason, ...(why === undefined ? { needs } : {}) };
    }
    return { ...shown, id, config, state: compare(port, name, { plain: config, secret: hidden }) };
  });
  return [...usable, ...found.refused.map(({ name, reason }) => leftOut(name, reason))];
}

/** By name; with the secret of the owner's that it takes, because that is a part of what a yes is for. */
function tellValues(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).map(([key, value]) => {
    const taken = secretsIn(value);
    return taken.length === 0 ? key : `${key} (from the vault: ${taken.join(", ")})`;
  });
}

/** A key that is in the vault by now is known there by its value, or here by its reference. */
function compare(port: AddPort, name: string, now: { plain: ServerConfig; secret: ServerConfig }): Importable["state"] {
  const known = port.known[name];
  if (!known) return "new";
  const isSame = (of: (config: ServerConfig) => Readonly<Record<string, string | undefined>>) => {
    const [there, plain, secret] = [of(known), of(now.plain), of(now.secret)];
    const keys = new Set([...Object.keys(there), ...Object.keys(plain)]);
    return [...keys].every((key) => {
      const reference = readSecretReference(plain[key] ?? "");
      const isStored = reference !== undefined && port.isSecret(reference, there[key] ?? "");
      return isStored || there[key] === plain[key] || there[key] === secret[key];
    });
  };
  const parts = [
    ({ command, cwd, url }: ServerConfig) => ({ command, cwd, url }),
    ({ args }: ServerConfig) => Object.fromEntries(args.entries()),
    ({ env }: ServerConfig) => env,
    ({ headers }: ServerConfig) => headers,
  ];
  return parts.every(isSame) ? "there already" : "changed";
}
