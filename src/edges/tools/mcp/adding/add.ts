/** Taking servers into the settings, from what people paste. */
import { AppError, type Json } from "../../../../core/domain/index.ts";
import type { Crash } from "../../../../core/kit/index.ts";
import { type ServerConfig, serverConfig } from "../config.ts";
import { hideSecrets, type SecretSigns } from "./hide.ts";
import { type Pasted, type PastedValue, readPasted } from "./paste.ts";
import { type FillingPlace, fillPlaceholders, type NeededSecret, tellNeeds } from "./placeholders.ts";

export interface AddPort extends SecretSigns, FillingPlace {
  /** The servers there are. */
  known: Readonly<Record<string, ServerConfig>>;
  /** Whether this is the value of a secret. */
  isSecret(name: string, value: string): boolean;
  putSecret(name: string, value: string): Promise<void>;
  /** Throws CONFIG_INVALID when the settings don't take it; then nothing is changed. */
  save(server: string, definition: Json): Promise<unknown>;
  crash: Crash;
}

export interface Added extends Pick<Pasted, "refused" | "notes"> {
  added: { name: string; config: ServerConfig }[];
  /** Secrets that some of the refused need: with them, the same text can be added. */
  needs: NeededSecret[];
}

/** Starts nothing. Throws BAD_REQUEST when the text isn't JSON. */
export async function addServers(
  port: AddPort,
  given: { text: string; name?: string | undefined; replace?: boolean | undefined },
): Promise<Added> {
  const { servers, refused, notes, questions } = readText(given.text, given.name);
  const added: Added["added"] = [];
  const needs: NeededSecret[] = [];
  for (const { name, config: written } of servers) {
    const { config, why, needs: missing } = fillPlaceholders(name, written, { place: port, questions });
    const isTaken = name in port.known && !given.replace;
    const reason = isTaken ? "there is already a server with this name" : (why ?? tellNeeds(missing));
    if (reason !== undefined) {
      refused.push({ name, reason });
      if (!isTaken && why === undefined) needs.push(...missing);
      continue;
    }
    notes.push(...(await addServer(port, name, config)));
    added.push({ name, config });
  }
  return { added, refused, notes, needs };
}

/** Keys first: a definition that refers to a key which isn't there would be refused. Returns what was done besides. */
export async function addServer(port: AddPort, name: string, config: ServerConfig): Promise<string[]> {
  const hidden = hideSecrets(name, config, port);
  for (const secret of hidden.secrets) await port.putSecret(secret.name, secret.value);
  port.crash.at("server.adding", () => name);
  await port.save(name, withoutDefaults(hidden.config));
  const stored = hidden.secrets.map((one) => one.name).join(", ");
  return stored === "" ? [] : [`${name}: stored ${stored} in the vault`];
}

function readText(text: string, name: string | undefined): PastedValue {
  try {
    return readPasted(text, name);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new AppError("BAD_REQUEST", {
      message: `This isn't JSON: ${cause.message}`,
      hint: 'Paste it as the server\'s README prints it, beginning with {"mcpServers": …}.',
      cause,
    });
  }
}

/** As a person would write it: without what holds anyway. */
function withoutDefaults(config: ServerConfig): Json {
  const plain = Object.entries(serverConfig.parse({ command: "-" }));
  const isDefault = (key: string, value: unknown) =>
    plain.some(([name, usual]) => name === key && JSON.stringify(usual) === JSON.stringify(value));
  return Object.fromEntries(
    Object.entries(config).filter(([key, value]) => value !== undefined && !isDefault(key, value)),
  ) as Json;
}
