/** A file that comes with a prompt: stored first, named by the message later. */
import { request as httpRequest } from "node:http";
import { AppError } from "../../../core/domain/index.ts";
import { defined } from "../../../core/kit/index.ts";
import { readHttp, shownHeaders, strange } from "../../../core/protocol/client.ts";
import type { GatewayAccess } from "../connection.ts";
import { httpFailure } from "../unreachable.ts";
import type { SentFile } from "./prompt.ts";

/** Resolves with the id that chat.send takes. Throws the gateway's refusal: too large, of a kind it doesn't take. */
export async function upload(gateway: GatewayAccess, file: SentFile): Promise<string> {
  const url = new URL(`${gateway.url}/attachments`);
  const request = url.protocol === "https:" ? (await import("node:https")).request : httpRequest;
  const headers = {
    ...shownHeaders(gateway),
    "content-type": "application/octet-stream",
    "content-length": file.bytes.length,
    "x-lares-name": encodeURIComponent(file.name),
  };
  const { status, text } = await new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request(url, { method: "POST", headers, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString("utf8") }),
      );
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(file.bytes);
  }).catch((cause: unknown) => {
    throw httpFailure(cause, { url: gateway.url, isAsked: false, bytes: file.bytes.length });
  });
  const answer = readHttp(status, text) ?? strange(gateway.url, status);
  if (answer.ok) return (answer.payload as { id: string }).id;
  const { code = "INTERNAL", message = "", hint } = answer.error;
  throw new AppError(code, { message, ...defined({ hint }) });
}
