/** The slice `web` of the configuration. */
import { z } from "zod";
import type { DeepReadonly } from "../../../core/kit/index.ts";

const search = z
  .strictObject({
    provider: z.enum(["brave", "tavily", "searxng"]).describe("The search service. Example: brave"),
    key: z.string().min(1).optional().describe("API key; Brave and Tavily need one."),
    baseUrl: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe("Its address; SearXNG needs it. Example: http://127.0.0.1:8888"),
  })
  .superRefine(({ provider, key, baseUrl }, context) => {
    if (provider !== "searxng" && !key) {
      context.addIssue({ code: "custom", path: ["key"], message: `${provider} needs a key` });
    }
    if (provider === "searxng" && !baseUrl) {
      context.addIssue({ code: "custom", path: ["baseUrl"], message: "searxng needs the address of the server" });
    }
  });

export const webConfig = z
  .strictObject({
    search: search.optional().describe("Web search; without it agents have no web_search."),
    privateHosts: z
      .array(z.string().min(1))
      .default([])
      .describe(
        "Hosts on private networks that agents may reach, with or without port. Example: [nas.lan, 127.0.0.1:8080]",
      ),
  })
  .describe("How agents use the web.");

export type WebConfig = DeepReadonly<z.output<typeof webConfig>>;
export type SearchConfig = NonNullable<WebConfig["search"]>;
