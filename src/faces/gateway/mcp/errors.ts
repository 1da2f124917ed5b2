/** Answers in the protocol's own shape that are given before the SDK sees a request. */

/** Of a session's id, so that a person who meets one in a log knows what it is. */
export const PREFIX = "mcp_";

export function rpcError(
  status: number,
  code: number,
  message: string,
  given: { id?: string | number | null; headers?: Record<string, string> } = {},
): Response {
  const body = { jsonrpc: "2.0", id: given.id ?? null, error: { code, message } };
  return Response.json(body, { status, headers: given.headers ?? {} });
}

/** A client that reads this opens a new session (2025-11-25, "Session Management"). */
export function noSession(id: string | number | null): Response {
  return rpcError(404, -32_001, "This session isn't known. Start a new one with initialize.", { id });
}
