/** `POST /chat`: the simplest door. {"user_id","message"} → {"agent","response", …}. */
import { z } from "zod";
import { truthy } from "../../core/kit/index.ts";
import { agentId, messageText } from "../../core/protocol/index.ts";
import { answerHeaders, call, toCaller } from "./call.ts";
import { type HttpApp, parse, readJson } from "./http.ts";
import type { GatewayParts } from "./ports.ts";

const body = z.strictObject({
  user_id: z.string().min(1).max(256),
  message: messageText,
  agent: agentId.optional(),
  session: z.string().min(1).max(512).optional(),
});

export function chatRoute(app: HttpApp, parts: GatewayParts): void {
  app.post("/chat", async (c) => {
    const { user_id, ...rest } = parse(body, await readJson(c, parts.config().http.maxBodyBytes));
    const idempotencyKey = c.req.header("idempotency-key");
    const params = { ...rest, user: user_id, ...truthy({ idempotencyKey }) };
    const answer = await call(parts, "chat.send", params, toCaller(c));
    return c.json(answer, answer.state === "parked" ? 202 : 200, answerHeaders(answer));
  });
}
