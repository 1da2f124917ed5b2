/** The parts of a mail: the text to read, and the attachments, which stay on the server until somebody may have them. */
import type { ImapFlow, MessageStructureObject } from "imapflow";
import type { RemoteFile } from "../../../core/contracts/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import { refused } from "../sending.ts";

/** More text than a person writes in a mail. */
const MOST_TEXT = 256 * 1024;

export interface MailParts {
  text: MessageStructureObject | undefined;
  files: MessageStructureObject[];
}

export function splitParts(root: MessageStructureObject | undefined): MailParts {
  const all: MessageStructureObject[] = [];
  const walk = (node: MessageStructureObject | undefined) => {
    if (!node) return;
    if (node.childNodes?.length && !node.type.startsWith("message/")) node.childNodes.forEach(walk);
    else all.push(node);
  };
  walk(root);
  const isFile = (part: MessageStructureObject) =>
    part.disposition === "attachment" || (!part.type.startsWith("text/") && !part.type.startsWith("multipart/"));
  const texts = all.filter((part) => !isFile(part));
  const text = texts.find((part) => part.type === "text/plain") ?? texts.find((part) => part.type === "text/html");
  return { text, files: all.filter(isFile) };
}

export async function readText(
  client: ImapFlow,
  uid: number,
  part: MessageStructureObject | undefined,
): Promise<string> {
  if (!part) return "";
  const { content } = await client.download(String(uid), part.part ?? "1", { uid: true, maxBytes: MOST_TEXT });
  if (!content) return "";
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

export function toRemoteFile(client: ImapFlow, uid: number, part: MessageStructureObject): RemoteFile {
  const name = part.dispositionParameters?.filename ?? part.parameters?.name;
  // The server gives the size of the encoded form: four characters and a line break now and then for three bytes.
  const bytes = part.size && part.encoding === "base64" ? Math.floor(part.size * 0.74) : part.size;
  return {
    ...truthy({ name, bytes }),
    mediaType: part.type,
    open: async () => {
      const { content } = await client.download(String(uid), part.part ?? "1", { uid: true });
      if (!content) throw refused("The mail server no longer has this file.", "never");
      return content;
    },
  };
}
