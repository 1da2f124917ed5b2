/** Small files of each kind, and how to send one. */
import { type Answer, bearer, type TestInstance } from "../gateway/support.ts";

/** One white pixel. */
export const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);
export const PDF = Buffer.from("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "latin1");
export const ZIP = Buffer.from("504b030414000000080000002100", "hex");

export interface Sending {
  token?: string;
  name?: string;
  type?: string;
  headers?: Record<string, string>;
}

export function upload(instance: TestInstance, body: Buffer | string, how: Sending = {}): Promise<Answer> {
  return instance.ask("/attachments", {
    method: "POST",
    headers: {
      ...bearer(how.token),
      "content-type": how.type ?? "application/octet-stream",
      "content-length": String(Buffer.byteLength(body)),
      ...(how.name === undefined ? {} : { "x-lares-name": encodeURIComponent(how.name) }),
      ...how.headers,
    },
    body,
  });
}

export async function uploaded(
  instance: TestInstance,
  body: Buffer | string,
  name: string,
  token?: string,
): Promise<string> {
  const answer = await upload(instance, body, { name, ...(token ? { token } : {}) });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.json.id as string;
}
