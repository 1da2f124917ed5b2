/** Headers every answer carries, and those of pages. */
import type { ServerResponse } from "node:http";

const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

/** Set on the raw response: cheap, and kept whatever a route answers. */
export function everyAnswer(outgoing: ServerResponse): void {
  outgoing.setHeader("x-content-type-options", "nosniff");
  outgoing.setHeader("referrer-policy", "no-referrer");
}

export function pageHeaders(more: Record<string, string> = {}): Record<string, string> {
  return {
    "content-security-policy": PAGE_POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    ...more,
  };
}
