import { expect, it } from "vitest";
import { systemClock } from "../../../core/kit/index.ts";
import type { Api } from "../providers.ts";
import { rehearse } from "./rehearse.ts";

it.each(["anthropic", "openai-chat", "openai-responses", "google"] as Api[])(
  "the rehearsal for %s goes all the way to an answer",
  async (api) => {
    const provider = {
      name: "p",
      api,
      baseUrl: "http://127.0.0.1:9/v1",
      official: false,
      credentials: [],
      models: {},
      because: "",
    };
    expect(await rehearse(provider, "m", systemClock)).toMatchObject({
      ok: true,
      content: [{ type: "text", text: "ok" }],
      tokens: { inputTokens: 1, outputTokens: 1 },
    });
  },
);
