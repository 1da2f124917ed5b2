import { createHmac } from "node:crypto";

/** What both sides of a webhook account sign with. */
export function sign(secret: string, timestamp: string, body: string | Buffer): string {
  return `sha256=${createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex")}`;
}
