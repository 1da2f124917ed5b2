/**
 * The OpenAI-compatible door. `model` names an agent (`lares`, `lares/<agent>`) or a model (`provider/model`); `user` chooses
 * the session. Without `user` the request is a separate conversation, with the messages it carries.
 */
import type { Context } from "hono";
import { call, toCaller } from "../call.ts";
import type { HttpApp, HttpEnv } from "../http.ts";
import type { GatewayParts } from "../ports.ts";
import { completions } from "./completions.ts";
import { unknownModel } from "./known.ts";
import { responses } from "./responses.ts";

export function openaiRoutes(app: HttpApp, parts: GatewayParts): void {
  const list = async (c: Context<HttpEnv>) => {
    const caller = toCaller(c);
    const { models } = await call(parts, "models.list", {}, caller);
    const { agents } = await call(parts, "agents.list", {}, caller);
    return [
      model("lares", "lares"),
      ...agents.map((a) => model(`lares/${a.agent}`, "lares")),
      ...models.map((m) => model(m.id, m.provider)),
    ];
  };
  app.get("/v1/models", async (c) => c.json({ object: "list", data: await list(c) }));
  app.get("/v1/models/:id{.+}", async (c) => {
    const id = c.req.param("id");
    const all = await list(c);
    const found = all.find((m) => m.id === id);
    if (!found) {
      throw unknownModel(
        id,
        all.map((m) => m.id),
      );
    }
    return c.json(found);
  });
  app.post("/v1/chat/completions", (c) => completions(c, parts));
  app.post("/v1/responses", (c) => responses(c, parts));
}

function model(id: string, owner: string) {
  return { id, object: "model", created: 0, owned_by: owner };
}
