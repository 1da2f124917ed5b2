import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { z } from "zod";
import type { AdviceTable } from "../../core/contracts/index.ts";
import { BOUND_EVERYWHERE, type DeepReadonly, isLoopbackBind, parseHost } from "../../core/kit/index.ts";

/** Lares doesn't start with an address that others reach, unless the owner says that this is meant. */
export const gatewayAdvice: AdviceTable = {
  "gateway.bind": (value, { config }) => {
    const { exposed } = config.gateway as GatewayConfig;
    if (isLoopbackBind(String(value))) return undefined;
    if (!isOwnAddress(String(value))) {
      const message = `"${value}" isn't an address of this machine, so Lares couldn't start with it.`;
      return { message: `${message} Use 127.0.0.1, or 0.0.0.0 for every address.` };
    }
    if (exposed) return undefined;
    const message = `Lares won't start with it: listening on ${value} would open it beyond this machine.`;
    return { message: `${message} If you want that, set gateway.exposed to true.` };
  },
};

/** A name may stand for one; an IP address is one of those the machine has now. */
function isOwnAddress(bind: string): boolean {
  if (isIP(bind) === 0) return parseHost(bind)?.kind === "name" && bind.includes(".");
  if (Object.hasOwn(BOUND_EVERYWHERE, bind)) return true;
  const own = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
  return own.some(({ address }) => address === bind);
}

export const gatewayConfig = z
  .strictObject({
    port: z.number().int().min(0).max(65_535).default(7717).describe("Port of the gateway; 0 takes a free one."),
    bind: z.string().default("127.0.0.1").describe("Address to listen on. Beyond loopback it needs `exposed: true`."),
    exposed: z.boolean().default(false).describe("Confirms that listening beyond loopback is intended."),
    hosts: z
      .array(z.string().regex(/^[a-z0-9.-]+$/, "a host name in lower case"))
      .default([])
      .describe(
        "Names this gateway is reached by besides its address, e.g. behind a proxy. Example: [lares.example.com]",
      ),
    trustedProxies: z
      .array(z.string().refine((address) => isIP(address) > 0, "an IP address"))
      .default([])
      .describe(
        "Addresses of proxies in front of this gateway whose X-Forwarded-Proto is trusted: over TLS the login cookie is marked Secure. Example: [127.0.0.1]",
      ),
    http: z
      .strictObject({
        wait: z
          .number()
          .positive()
          .max(86_400)
          .default(120)
          .describe("Seconds a caller waits for a parked turn before an interim answer."),
        maxBodyBytes: z
          .number()
          .int()
          // Less would shut out the command line and the page, which couldn't set it right again.
          .min(65_536)
          .default(1_048_576)
          .describe("Largest body of a request."),
        bodySeconds: z
          .number()
          .positive()
          .max(600)
          .default(10)
          .describe("Seconds a body of a hook, of a platform or of a login may take to arrive."),
        maxImportBytes: z.number().int().min(65_536).default(268_435_456).describe("Largest body of a session import."),
      })
      .prefault({})
      .describe("HTTP limits."),
  })
  .describe("The gateway: HTTP and WebSocket.");
export type GatewayConfig = DeepReadonly<z.output<typeof gatewayConfig>>;
