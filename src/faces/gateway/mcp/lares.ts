/** The catalogue of the program: what other agents can do here. Each part is left out for tokens without the right to it. */
import { addApprovals, approvalTools, isFollowable } from "./approvals.ts";
import { askTools } from "./ask.ts";
import { boardTools } from "./board.ts";
import { addTool, type McpCatalogue } from "./catalogue.ts";
import { recordTools } from "./records.ts";
import { addSkills } from "./skills.ts";

const INSTRUCTIONS =
  "Lares runs agents that remember, act on schedules and ask a person before anything risky. Use `ask` to talk to one of them.";

/** What a list says depends on the token, and on the version of Lares. */
const LIST = { ttlMs: 60_000, cacheScope: "private" } as const;

export const laresCatalogue: McpCatalogue = {
  options: {
    instructions: INSTRUCTIONS,
    capabilities: { tools: {}, resources: { subscribe: true, listChanged: false } },
    cacheHints: {
      "tools/list": LIST,
      "resources/list": LIST,
      "resources/templates/list": LIST,
      "server/discover": LIST,
      "resources/read": { ttlMs: 0, cacheScope: "private" },
    },
  },
  isFollowable,
  register(server, client) {
    for (const one of [...askTools, ...recordTools, ...boardTools, ...approvalTools]) addTool(server, client, one);
    addApprovals(server, client);
    addSkills(server, client);
  },
};
