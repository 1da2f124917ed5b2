/** Agents of others with everything that is needed to ask them. */
import type { ServedTools } from "../on-demand/on-demand.ts";
import { type HireParts, Hires } from "./hires.ts";
import { PeerManager, type PeerManagerPort } from "./manage.ts";
import { PeerBook, type PeerBookParts } from "./peers.ts";
import { createPeerAsk, PEER_ASK } from "./tool.ts";

export interface OpenedPeers {
  peers: PeerBook;
  hires: Hires;
  /** For the owner: what there is, and changes to it. */
  manage(port: PeerManagerPort): PeerManager;
  /** The tool beside those of servers: found while there is somebody to ask, and free while there isn't. */
  serve(others: ServedTools): ServedTools;
}

export function openPeers(parts: PeerBookParts & Omit<HireParts, "peers">): OpenedPeers {
  const peers = new PeerBook(parts);
  const hires = new Hires({ ...parts, peers });
  const ask = createPeerAsk(peers, hires);
  const isOffered = () => peers.names().length > 0;
  const serve = (others: ServedTools): ServedTools => ({
    ...others,
    servers: () => [...others.servers(), ...(isOffered() ? ["agents elsewhere"] : [])],
    get: (name) => (name === PEER_ASK && isOffered() ? ask : others.get(name)),
    async list(...asked) {
      const { tools, ...more } = await others.list(...asked);
      return { tools: [...tools, ...(isOffered() ? [{ server: "agents", tool: ask }] : [])], ...more };
    },
  });
  return { peers, hires, serve, manage: (port) => new PeerManager({ ...port, peers, hires }) };
}
