/**
 * Pictures and files in an OpenAI request. They become attachments of the message, as if they had been uploaded: known by
 * their bytes, bounded, kept with the session. A data address carries the bytes; one of the web is fetched by Lares' own
 * fetcher, under its network policy.
 */
import { z } from "zod";
import { AppError } from "../../../core/domain/index.ts";
import type { Principal } from "../../../core/protocol/index.ts";
import type { GatewayParts } from "../ports.ts";

export interface RequestedFile {
  url: string;
  name?: string | undefined;
}

/** The words of a message and the files among its parts. */
export interface MessageContent {
  text: string;
  files: RequestedFile[];
}

/** As many as a message takes. */
export const MOST_FILES = 8;

const address = z.union([z.string(), z.looseObject({ url: z.string() })]);
const file = z.looseObject({ filename: z.string().max(255).optional(), file_data: z.string().optional() });

/** One part of a message, in the words of chat completions or of responses. */
export const contentPart = z.looseObject({
  type: z.enum(
    ["text", "refusal", "input_text", "output_text", "image_url", "input_image", "file", "input_file"],
    "only text, pictures and files are understood",
  ),
  text: z.string().optional(),
  image_url: address.optional(),
  file: file.optional(),
  filename: z.string().max(255).optional(),
  file_data: z.string().optional(),
  file_url: z.string().optional(),
});
type Part = z.output<typeof contentPart>;

export function toContent(content: string | readonly Part[] | null | undefined): MessageContent {
  if (typeof content === "string") return { text: content, files: [] };
  const parts = content ?? [];
  return {
    text: parts.flatMap((part) => (part.text === undefined ? [] : [part.text])).join("\n"),
    files: parts.flatMap(toFile),
  };
}

function toFile(part: Part): RequestedFile[] {
  const { image_url: image, file: inner, filename: name } = part;
  if (part.type === "image_url" || part.type === "input_image") {
    const url = typeof image === "string" ? image : image?.url;
    if (url) return [{ url }];
  } else if (part.type === "file" || part.type === "input_file") {
    const url = inner?.file_data ?? part.file_data ?? part.file_url;
    if (url) return [{ url, name: inner?.filename ?? name }];
  } else return [];
  throw new AppError("BAD_REQUEST", {
    message: `A part of type "${part.type}" has no data and no address.`,
    hint: "Ids of uploaded files don't work here: send the bytes as a data: URL.",
    details: { field: "messages" },
  });
}

/** The ids of the attachments these have become, in order. */
export async function bring(
  parts: GatewayParts,
  principal: Principal,
  files: readonly RequestedFile[],
  signal: AbortSignal,
): Promise<string[]> {
  const ids: string[] = [];
  for (const { url, name } of files) {
    const got = url.startsWith("data:") ? fromData(url) : await fromWeb(parts, url, signal);
    async function* body() {
      yield got.bytes;
    }
    ids.push((await parts.attachments.put(body(), { name: name ?? got.name, by: principal.id })).id);
  }
  return ids;
}

/** The bytes of a `data:` address. */
export function fromData(url: string): { bytes: Uint8Array; name: string } {
  const found = /^data:([\w.+-]+\/[\w.+-]+)?(?:;[\w-]+=[^;,]*)*(;base64)?,/.exec(url);
  if (!found) throw noFile("A data: URL is not well-formed.");
  const rest = url.slice(found[0].length);
  const bytes = found[2] ? Buffer.from(rest, "base64") : Buffer.from(decoded(rest), "utf8");
  const ending = found[1]?.split("/")[1]?.split("+")[0];
  return { bytes, name: ending ? `picture.${ending}` : "file" };
}

async function fromWeb(parts: GatewayParts, url: string, signal: AbortSignal) {
  if (!/^https?:\/\//.test(url)) throw noFile("Only data:, http: and https: addresses of pictures are understood.");
  const { status, bytes } = await parts.fetchFile(url, parts.attachments.mostBytes, signal);
  if (status !== 200) throw noFile(`The picture's address answered ${status}.`);
  const last = new URL(url).pathname.split("/").at(-1);
  return { bytes, name: last || "picture" };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw noFile("A data: URL is not well-formed.");
  }
}

function noFile(message: string): AppError {
  return new AppError("BAD_REQUEST", {
    message,
    hint: "Send the bytes as a data: URL, base64.",
    details: { field: "messages" },
  });
}
