/** `POST /rpc/<method>`: the body is the parameters, the answer is the result. */
import type { Context } from "hono";
import type { ChatAnswer } from "../../core/protocol/index.ts";
import { answerHeaders, callMethod, toCaller, withKey } from "./call.ts";
import { type HttpApp, type HttpEnv, readJson } from "./http.ts";
import type { GatewayParts } from "./ports.ts";

export function rpcRoute(app: HttpApp, parts: GatewayParts): void {
  app.post("/rpc/:method", async (c: Context<HttpEnv>) => {
    const name = c.req.param("method") ?? "";
    const { http } = parts.config();
    const body = await readJson(c, name === "sessions.import" ? http.maxImportBytes : http.maxBodyBytes);
    const params = withKey(name, body, c.req.header("idempotency-key"));
    const result = await callMethod(parts, name, params, toCaller(c));
    if (name !== "chat.send" && name !== "turns.wait") return c.json(result as object);
    const answer = result as ChatAnswer;
    return c.json(answer, answer.state === "parked" ? 202 : 200, answerHeaders(answer));
  });
}
