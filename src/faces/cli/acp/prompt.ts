/** A prompt's blocks as one message: what the person typed, and files. What an editor embeds is a file, so it is text from outside (I12). Pure. */
import { hasWords, isObject } from "../../../core/domain/index.ts";
import { RPC_CODES, RpcFailure } from "../../../core/kit/index.ts";
import { acpWords as words } from "../words/acp.ts";

export interface SentFile {
  name: string;
  bytes: Buffer;
}

/** As chat.send has them. */
const MOST_TEXT = 262_144;
const MOST_FILES = 8;

export function readPrompt(blocks: unknown): { message: string; files: SentFile[] } {
  if (!Array.isArray(blocks)) throw new RpcFailure(RPC_CODES.invalidParams, words.missing("prompt", "session/prompt"));
  const files: SentFile[] = [];
  const text = blocks.map((block) => readBlock(block, files)).join("");
  if (files.length > MOST_FILES) throw new RpcFailure(RPC_CODES.invalidParams, words.tooManyFiles(MOST_FILES));
  if (text.length > MOST_TEXT) throw new RpcFailure(RPC_CODES.invalidParams, words.promptTooLong(MOST_TEXT));
  if (!hasWords(text) && files.length === 0) throw new RpcFailure(RPC_CODES.invalidParams, words.noText);
  return { message: text, files };
}

type BlockFields = Readonly<Record<string, unknown>>;

/** By kind: the block's words in the message; its content goes to `files`. */
const READERS: Readonly<Record<string, (block: BlockFields, files: SentFile[]) => string>> = {
  text: ({ text }) => (typeof text === "string" ? text : ""),
  image({ uri, mimeType, data }, files) {
    const name = fileName(uri) || `picture.${String(mimeType ?? "").split("/")[1] ?? "png"}`;
    files.push({ name, bytes: decode(data, name) });
    return "";
  },
  resource_link: ({ name, uri }) => words.link(String(name ?? ""), String(uri ?? "")),
  resource({ resource }, files) {
    const { uri, text, blob } = isObject(resource) ? (resource as BlockFields) : {};
    const name = fileName(uri) || "resource.txt";
    const bytes = typeof text === "string" ? Buffer.from(text) : decode(blob, name);
    // An empty file can't be stored, and has nothing to say.
    if (bytes.length > 0) files.push({ name, bytes });
    return words.link(name, String(uri ?? ""));
  },
  audio() {
    throw new RpcFailure(RPC_CODES.invalidParams, words.noAudio);
  },
};

function readBlock(block: unknown, files: SentFile[]): string {
  const fields: BlockFields = isObject(block) ? (block as BlockFields) : {};
  const { type } = fields;
  if (typeof type !== "string" || !Object.hasOwn(READERS, type))
    throw new RpcFailure(RPC_CODES.invalidParams, words.missing("type", "session/prompt"));
  return READERS[type]!(fields, files);
}

function decode(data: unknown, name: string): Buffer {
  if (typeof data !== "string" || !/^[A-Za-z0-9+/=\s]*$/.test(data))
    throw new RpcFailure(RPC_CODES.invalidParams, words.notBase64(name));
  return Buffer.from(data, "base64");
}

/** The last part of an address, as people know the file. */
function fileName(uri: unknown): string {
  const last =
    String(uri ?? "")
      .split(/[?#]/)[0]!
      .split("/")
      .at(-1) ?? "";
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}
