/** Taking servers into the settings, from what people paste. */
import { AppError, type Json } from "../../../core/domain/index.ts";
import { type ServerConfig, serverConfig } from "./config.ts";
import { hideSecrets } from "./hide.ts";
import { type Pasted, readPasted } from "./paste.ts";

export interface AddPort {
  /** The servers there are. */
  known: Readonly<Record<string, unknown>>;
  soundsSecret(key: string): boolean;
  putSecret(name: string, value: string): Promise<void>;
  /** Throws CONFIG_INVALID when the settings don't take it; then nothing is changed. */
  save(server: string, definition: Json): Promise<unknown>;
}

export interface Added extends Pick<Pasted, "refused" | "notes"> {
  added: { name: string; config: ServerConfig }[];
}

/** Starts nothing. Throws BAD_REQUEST when the text isn't JSON. */
export async function addServers(
  port: AddPort,
  given: { text: string; name?: string | undefined; replace?: boolean | undefined },
): Promise<Added> {
  const { servers, refused, notes } = readText(given.text, given.name);
  const added: Added["added"] = [];
  for (const { name, config } of servers) {
    if (name in port.known && !given.replace) {
      refused.push({ name, reason: "there is already a server with this name" });
      continue;
    }
    const hidden = hideSecrets(name, config, (key) => port.soundsSecret(key));
    for (const secret of hidden.secrets) await port.putSecret(secret.name, secret.value);
    await port.save(name, withoutDefaults(hidden.config));
    added.push({ name, config });
    if (hidden.secrets.length > 0)
      notes.push(`${name}: stored ${hidden.secrets.map((one) => one.name).join(", ")} in the vault`);
  }
  return { added, refused, notes };
}

function readText(text: string, name: string | undefined): Pasted {
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
