/** Where the gateway of this machine's OpenClaw is, from its own settings. They are read each time: they change without us. */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { asNumber, asObject, asText } from "../../../core/domain/index.ts";
import { looseJson } from "../../../core/kit/index.ts";
import { clawWords as words } from "./words.ts";

export interface GatewayPlace {
  url: string;
  token: string;
}

export type FoundPlace = GatewayPlace | { state: "missing" | "needs-login" | "broken"; fix: string };

const USUAL_PORT = 18_789;
/** Far more than settings have. */
const LARGEST = 4 * 1024 * 1024;

export async function findGateway(userHome: string): Promise<FoundPlace> {
  const file = join(userHome, ".openclaw", "openclaw.json");
  const found = await stat(file).catch(() => undefined);
  if (!found) return { state: "missing", fix: words.missing };
  const text =
    found.isFile() && found.size <= LARGEST ? await readFile(file, "utf8").catch(() => undefined) : undefined;
  const settings = text === undefined ? undefined : looseJson(text);
  if (settings === undefined) return { state: "broken", fix: words.unreadable };
  const gateway = asObject(asObject(settings).gateway);
  if (gateway.mode === "remote") return { state: "broken", fix: words.elsewhere };
  const { token } = asObject(gateway.auth);
  // A reference to an environment or a vault of its own means nothing here.
  if (!asText(token) || String(token).startsWith("$")) return { state: "needs-login", fix: words.noToken };
  const scheme = asObject(gateway.tls).enabled === true ? "wss" : "ws";
  const port = asNumber(gateway.port) ?? USUAL_PORT;
  return { url: `${scheme}://127.0.0.1:${port}`, token: String(token) };
}
