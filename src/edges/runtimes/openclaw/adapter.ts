/** OpenClaw, as the daemon it is: a run is a message to the gateway that somebody runs on this machine. */
import { homedir } from "node:os";
import type {
  RunPorts,
  RunRequest,
  RuntimeAdapter,
  RuntimeCapabilities,
  RuntimeProbe,
} from "../../../core/contracts/index.ts";
import { absent, claim } from "../claims.ts";
import type { DriverParts } from "../driver.ts";
import { absentWords } from "../words.ts";
import { openDevice } from "./device.ts";
import { connectGateway, connectPatiently, type GatewayEars, GatewayFailure } from "./gateway.ts";
import { findGateway } from "./place.ts";
import { ClawSession } from "./session.ts";
import { RUNTIME } from "./token.ts";
import { clawWords as words } from "./words.ts";

/** A person waits for it. */
const PROBE_MS = 1800;

export function makeOpenClawAdapter({ clock, kept, userHome = homedir() }: DriverParts): RuntimeAdapter {
  const connect = async (ears: GatewayEars, signal: AbortSignal) => {
    const place = await findGateway(userHome);
    if ("state" in place) throw new Error(place.fix);
    return connectPatiently(place, await openDevice(kept), { ears, signal });
  };
  const make = (request: RunRequest, ports: RunPorts) => new ClawSession({ request, ports, clock, connect });
  return {
    name: RUNTIME,
    async probe(signal): Promise<RuntimeProbe> {
      const place = await findGateway(userHome);
      if ("state" in place)
        return place.state === "needs-login"
          ? { ...place, state: "needs-login", version: UNKNOWN }
          : { ...place, state: place.state };
      try {
        const gateway = await connectGateway(place, null, { ears: DEAF, signal, ms: PROBE_MS });
        gateway.close();
        return { state: "ready", version: gateway.version };
      } catch (error) {
        return explain(error, place.url);
      }
    },
    capabilities: () => CAN,
    async open(request, ports, signal) {
      const session = make(request, ports);
      await session.open(signal);
      return session;
    },
    async reattach(token, request, ports, signal) {
      const session = make(request, ports);
      return (await session.takeUp(token, request.known ?? [], signal)) ? session : null;
    },
  };
}

const UNKNOWN = "unknown";
const DEAF: GatewayEars = { event: () => {}, closed: () => {} };

function explain(error: unknown, url: string): RuntimeProbe {
  if (!(error instanceof GatewayFailure)) return { state: "broken", fix: words.away(url) };
  const { code, detail, message } = error;
  if (code.startsWith("AUTH_")) return { state: "needs-login", version: UNKNOWN, fix: words.badToken };
  if (code === "PROTOCOL_MISMATCH") return { state: "broken", fix: words.otherProtocol(detail.expectedProtocol) };
  return { state: "broken", fix: words.refused(message) };
}

const CAN: RuntimeCapabilities = {
  class: "attached",
  stream: claim("token"),
  thinking: claim(true),
  steer: claim("mid-turn"),
  interrupt: claim(true),
  resume: claim("same-host"),
  // Commands; what else it does stays inside its workspace, or is left to its own settings.
  approvals: claim({ covers: "some", denied: "goes-on", waits: { ms: 30 * 60_000 } }),
  questions: absent(absentWords.notInProtocol),
  mcp: absent(absentWords.noToolsPerRun),
  usage: claim({ tokens: "per-call", money: true }),
  proxy: absent(absentWords.ownModels),
  rateLimits: claim(true),
  children: claim("hidden"),
  boundary: claim(["none"]),
  home: absent(absentWords.ownHome),
  ownScheduler: claim(true),
  ownChannels: claim(true),
};
