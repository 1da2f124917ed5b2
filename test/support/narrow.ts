/** A Lares whose model has a small window, and a scripted model that refuses what does not fit into it, as servers of local models do. */
import {
  directiveScript,
  isCompacting,
  type NormalRequest,
  type Reply,
  type SeenRequest,
} from "../fakes/model-server/index.ts";

export const COMPACTED_SAYS = "SUMMARY\nThey talked.\nOPEN REQUESTS\nnone\nDECISIONS\nnone\nABOUT THE PERSON\nnone";

export interface Narrow {
  /** Tokens of each request that was answered, and how many were refused. */
  answered: { tokens: number; compacting: boolean }[];
  refused: number;
}

/** Counts a request as its bytes over four; it and the longest answer it asks for must fit. */
export function narrowScript(
  window: (model: string) => number,
  say: (request: NormalRequest, seen: SeenRequest) => Reply = directiveScript(),
): { script: (request: NormalRequest, seen: SeenRequest) => Reply; seen: Narrow } {
  const seen: Narrow = { answered: [], refused: 0 };
  const script = (request: NormalRequest, wire: SeenRequest): Reply => {
    const tokens = Math.ceil(wire.bytes / 4);
    const most = Number(wire.body.max_tokens ?? wire.body.max_completion_tokens ?? 0);
    const limit = window(request.model);
    if (tokens + most > limit) {
      seen.refused++;
      const message = `This model's maximum context length is ${limit} tokens. However, you requested ${tokens + most} tokens (${tokens} in the messages, ${most} in the completion).`;
      return { fail: { kind: "context-overflow", message } };
    }
    seen.answered.push({ tokens, compacting: isCompacting(request) });
    return say(request, wire);
  };
  return { script, seen };
}

/** The provider `local` with models of these windows. */
export function narrowConfig(url: string, windows: Record<string, number>, more: object = {}): object {
  const models = Object.fromEntries(
    Object.entries(windows).map(([name, contextWindow]) => [
      name,
      { contextWindow, price: { input: 0.1, output: 0.2, cacheRead: 0.01, cacheWrite: 0.1 } },
    ]),
  );
  return {
    policy: { mode: "record" },
    models: {
      default: `local/${Object.keys(windows)[0]}`,
      providers: { local: { api: "openai-chat", baseUrl: `${url}/v1`, keys: ["none"], models } },
    },
    ...more,
  };
}
