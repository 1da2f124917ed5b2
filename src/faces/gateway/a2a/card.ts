/**
 * The agent card: what anyone may read about the agents here, without a token. It names what the owner chose to show, how to reach it,
 * and that a token is needed. Made without the SDK, which is loaded for peers only.
 */
import { type PeerDoor, SAME_MESSAGE, type ShownAgent } from "../../../core/contracts/index.ts";
import { truthy } from "../../../core/kit/index.ts";

export const A2A_PATH = "/a2a/v1";

const TEXT = ["text/plain", "application/json"];

export function makeCard(door: PeerDoor, agent: ShownAgent, at: { base: string; version: string; isFirst: boolean }) {
  const { base, version, isFirst } = at;
  const url = `${base}${A2A_PATH}`;
  const named = truthy({ tenant: isFirst ? "" : agent.id });
  const { description } = door.shown();
  return {
    name: agent.name,
    description,
    version,
    supportedInterfaces: [
      { url, protocolBinding: "JSONRPC", protocolVersion: "1.0", ...named },
      { url, protocolBinding: "HTTP+JSON", protocolVersion: "1.0", ...named },
      // The older protocol has no field for the agent, so it reaches the first one.
      ...(isFirst ? [{ url, protocolBinding: "JSONRPC", protocolVersion: "0.3" }] : []),
    ],
    capabilities: {
      streaming: true,
      pushNotifications: false,
      extendedAgentCard: false,
      extensions: [
        { uri: SAME_MESSAGE, description: "A message sent again under the same id is the same task.", required: false },
      ],
    },
    securitySchemes: {
      bearer: { httpAuthSecurityScheme: { scheme: "Bearer", description: "A token from the owner." } },
    },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    defaultInputModes: TEXT,
    defaultOutputModes: ["text/plain"],
    skills: [{ id: agent.id, name: agent.name, description, tags: ["assistant"] }],
    // What clients of the older protocol look for.
    ...(isFirst ? { url, preferredTransport: "JSONRPC" } : {}),
  };
}
