/** Questions that wait for a person: a resource to read and to follow, and a tool to answer them for tokens that may. */
import { type McpServer, ResourceNotFoundError, ResourceTemplate } from "@modelcontextprotocol/server";
import { z } from "zod";
import { AppError } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import type { Approval } from "../../../core/protocol/index.ts";
import { call } from "../call.ts";
import { explain, hidden, type McpVisitor, type ServedTool, toMcpCaller, tool } from "./catalogue.ts";

export const APPROVALS = "lares://approvals";
export const approvalUri = (id: string): string => `${APPROVALS}/${encodeURIComponent(id)}`;

/** Of an approval's address; ids are much shorter. */
export const MOST_URI = 256;

/** Whether a client can subscribe to it. */
export function isFollowable(uri: string): boolean {
  return uri.length <= MOST_URI && (uri === APPROVALS || uri.startsWith(`${APPROVALS}/`));
}

const JSON_TYPE = "application/json";
/** The most a client is shown at once; nobody answers more. */
const MOST = 200;

export const approvalTools: readonly ServedTool[] = [
  tool({
    name: "approval_answer",
    title: "Answer an approval",
    description:
      "Allow or deny something an agent asks for, in the name of this token. The first answer wins. Read what is asked in lares://approvals first.",
    scope: "approvals",
    in: z.strictObject({
      id: z.string().min(1).max(128),
      decision: z.enum(["allow-once", "deny"]),
      reason: z.string().max(2000).optional().describe("for the agent"),
    }),
    out: z.object({ id: z.string(), state: z.string() }),
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    async run(answer, at) {
      const { id, state } = await at.call("approvals.resolve", { ...answer, ...truthy({ idempotencyKey: at.key }) });
      return { id, state };
    },
  }),
];

export function addApprovals(server: McpServer, { principal, parts }: McpVisitor): void {
  if (!principal.scopes.has("read")) return;
  const caller = (signal: AbortSignal) => toMcpCaller(principal, signal);
  server.registerResource(
    "approvals",
    APPROVALS,
    { title: "Approvals", description: "What agents wait for a person to allow.", mimeType: JSON_TYPE },
    async (_uri, { mcpReq: { signal } }) => {
      const { approvals } = await call(parts, "approvals.list", { limit: MOST }, caller(signal));
      return asJson(APPROVALS, { approvals: hidden(approvals.map(shown), parts) });
    },
  );
  server.registerResource(
    "approval",
    new ResourceTemplate(`${APPROVALS}/{id}`, { list: undefined }),
    { title: "One approval", description: "One question, and how it was answered.", mimeType: JSON_TYPE },
    async (uri, { id }, { mcpReq: { signal } }) => {
      try {
        const found = await call(parts, "approvals.get", { id: String(id) }, caller(signal));
        return asJson(uri.href, hidden({ ...shown(found), ...truthy({ whole: found.whole }) }, parts));
      } catch (error) {
        if (error instanceof AppError && error.code === "NOT_FOUND") throw new ResourceNotFoundError(uri.href);
        throw new Error(explain(error, parts));
      }
    },
  );
}

function shown({ id, agent, session, tool, shown, because, state, askedAt, deadline }: Approval) {
  return {
    id,
    agent,
    session,
    tool,
    shown,
    because,
    state,
    askedAt: new Date(askedAt).toISOString(),
    deadline: new Date(deadline).toISOString(),
  };
}

function asJson(uri: string, value: object) {
  return { contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(value) }] };
}
