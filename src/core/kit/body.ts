/** The text of an HTTP response, up to a limit: the server must not decide how much memory its response takes. */

/** Code of the error that ends an answer beyond its bound. */
export const BODY_TOO_LARGE = "BODY_TOO_LARGE";

/** Reads to the end, or throws and lets go of the connection as soon as there are more bytes than `most`, unpacked. */
export async function textWithin(response: Response, most: number): Promise<string> {
  if (!response.body) return "";
  const parts: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop cancels the stream.
  for await (const part of response.body) {
    bytes += part.length;
    if (bytes > most)
      throw Object.assign(new Error(`the answer is larger than ${most >> 10} kB`), { code: BODY_TOO_LARGE });
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}
