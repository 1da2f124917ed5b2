/** `peer_ask`: an agent asks an agent of somebody else's. Through the gate like any service; sending is an effect (I4). */
import { z } from "zod";
import type { ActionPlan, Tool } from "../../../core/contracts/index.ts";
import type { JsonObject } from "../../../core/domain/index.ts";
import { defined } from "../../../core/kit/index.ts";
import { visible } from "../escape.ts";
import { parseInput } from "../input.ts";
import type { Hires } from "./hires.ts";
import type { PeerBook } from "./peers.ts";
import { ASK_DESCRIPTION, shownAsk } from "./words.ts";

export const PEER_ASK = "peer_ask";

const askInput = z.strictObject({
  peer: z.string().min(1).max(64),
  message: z.string().min(1).max(50_000),
  task: z.string().min(1).max(64).optional(),
});

export function createPeerAsk(peers: PeerBook, hires: Hires): Tool {
  const said = (description: string): JsonObject => ({ type: "string", description });
  return {
    spec: {
      name: PEER_ASK,
      get description() {
        return `${ASK_DESCRIPTION} Agents: ${peers.names().join(", ")}.`;
      },
      input: {
        type: "object",
        properties: {
          peer: said("the agent's name"),
          message: said("everything it needs to know"),
          task: said("only to answer a question of its: the task it named"),
        },
        required: ["peer", "message"],
      },
    },
    repeat: "never",
    async plan(input): Promise<ActionPlan> {
      const { peer, message, task } = parseInput(PEER_ASK, askInput, input);
      const { url } = peers.get(peer);
      return {
        tool: PEER_ASK,
        risk: "service",
        targets: [peer],
        shown: shownAsk(peer, new URL(url).host, visible(message)),
        binding: { peer, url, message, ...defined({ task }) },
      };
    },
    run(input, place, key, signal) {
      const { peer, message, task } = parseInput(PEER_ASK, askInput, input);
      return hires.ask({ key, peer, text: message, task, caller: place.caller }, signal);
    },
    probe(input, _place, key, { signal }) {
      return hires.probe({ key, task: parseInput(PEER_ASK, askInput, input).task }, signal);
    },
  };
}
