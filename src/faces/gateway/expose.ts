/** Listening beyond this machine. */
import { AppError } from "../../core/domain/index.ts";
import { isLoopbackBind } from "../../core/kit/index.ts";
import type { GatewayConfig } from "./config.ts";

const SHORTEST_TOKEN = 16;

/** A guessable token is no lock on a door that others can reach. Throws CONFIG_INVALID. */
export function mayExpose({ bind }: Pick<GatewayConfig, "bind">, token: string): void {
  if (isLoopbackBind(bind) || token.length >= SHORTEST_TOKEN) return;
  throw new AppError("CONFIG_INVALID", {
    message: `Listening on ${bind} needs a token of at least ${SHORTEST_TOKEN} characters.`,
    hint: "Unset LARES_TOKEN and Lares creates one, or set a longer one.",
    retry: "after-change",
  });
}

/** An address a browser on this machine can open. */
export function localUrl({ url, port }: { url: string; port: number }): string {
  return /\/\/(0\.0\.0\.0|\[::\]):/.test(url) ? `http://127.0.0.1:${port}` : url;
}
