/**
 * Pictures for one request, read when it is made. The history holds references only, so a long talk with many pictures costs
 * no memory between calls, and one that was deleted is not shown again.
 *
 * WIRE-7: a picture that cannot be shown (gone, too large, a model that sees none) becomes a line that says so. A session is
 *      never stuck on one.
 */
import type { ImagePart, ModelMessage } from "../../../core/domain/index.ts";
import type { Api } from "../providers.ts";

/** Where the bytes of an attachment are. Nothing when it is gone. Must not be asked for anything but attachments' ids. */
export type LoadAttachment = (id: string) => Promise<{ bytes: Uint8Array; mediaType: string } | undefined>;

/** A picture as it is sent, or why it is not. */
export type ShownImage = { data: string; mediaType: string } | { why: string };

/** Base64 letters a provider takes: of one picture, and of all of them with room for the words. From their documents. */
const LIMITS: Record<Api, { one: number; all: number }> = {
  anthropic: { one: 5_242_880, all: 24_000_000 },
  "openai-chat": { one: 20_000_000, all: 40_000_000 },
  "openai-responses": { one: 20_000_000, all: 40_000_000 },
  google: { one: 14_000_000, all: 14_000_000 },
};
/** Beyond it Anthropic shrinks the allowed size of each; older pictures are rarely meant any more. */
const MOST_IMAGES = 20;

/** The pictures of these messages, the newest first while they fit. `sees`: whether the model can. */
export async function imagesFor(
  messages: readonly ModelMessage[],
  how: { load: LoadAttachment; api: Api; sees: boolean },
): Promise<ReadonlyMap<string, ShownImage>> {
  const shown = new Map<string, ShownImage>();
  let left = LIMITS[how.api].all;
  let count = 0;
  for (const { attachment } of newestFirst(messages)) {
    if (shown.has(attachment)) continue;
    const found = await show(attachment, how);
    const fits = "why" in found || (count < MOST_IMAGES && found.data.length <= left);
    shown.set(attachment, fits ? found : { why: "left out, newer pictures took the room" });
    if ("why" in found || !fits) continue;
    left -= found.data.length;
    count++;
  }
  return shown;
}

async function show(id: string, how: { load: LoadAttachment; api: Api; sees: boolean }): Promise<ShownImage> {
  if (!how.sees) return { why: "this model cannot see pictures" };
  const file = await how.load(id).catch(() => undefined);
  if (!file?.mediaType.startsWith("image/")) return { why: "no longer here" };
  const { buffer, byteOffset, byteLength } = file.bytes;
  if (Math.ceil(byteLength / 3) * 4 > LIMITS[how.api].one) return { why: "too large for this model" };
  return { data: Buffer.from(buffer, byteOffset, byteLength).toString("base64"), mediaType: file.mediaType };
}

export function isPictured(message: ModelMessage): boolean {
  // Asked of every message of every request, so without a list.
  if (message.role === "user") return message.content.some((part) => part.type === "image");
  return message.role === "tool" && message.content.some((part) => part.images !== undefined && part.images.length > 0);
}

function listPictures(message: ModelMessage): readonly ImagePart[] {
  if (message.role === "user") return message.content.filter((part) => part.type === "image");
  return message.role === "tool" ? message.content.flatMap((part) => part.images ?? []) : [];
}

/** What stands in a picture's place. */
export function inWords({ name, path }: ImagePart, why: string): string {
  return `[Picture ${name}${path === undefined ? "" : ` (${path})`}: ${why}]`;
}

function* newestFirst(messages: readonly ModelMessage[]): Generator<ImagePart> {
  for (let i = messages.length - 1; i >= 0; i--) {
    yield* listPictures(messages[i]!);
  }
}
