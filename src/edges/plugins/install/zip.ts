/** The files of a zip archive, by its directory at the end. Only plain files and folders (PLUGINS-3). */
import { promisify } from "node:util";
import { inflateRaw } from "node:zlib";
import { checkPath, MOST_BYTES, MOST_FILES, type PluginFile, refuse, tooLarge, tooMany } from "./files.ts";

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const LONGEST_COMMENT = 65_535;
const [FILE_KIND, LINK_KIND, KIND_MASK] = [0o100000, 0o120000, 0o170000];

export function isZip(bytes: Buffer): boolean {
  return bytes.length > END_BYTES && bytes.readUInt32LE(0) === LOCAL;
}

export async function readZip(bytes: Buffer): Promise<PluginFile[]> {
  const damaged = () => refuse("the archive is damaged");
  const end = findEnd(bytes);
  if (end < 0) throw damaged();
  const count = bytes.readUInt16LE(end + 10);
  if (count > MOST_FILES) throw tooMany();
  const files: PluginFile[] = [];
  let at = bytes.readUInt32LE(end + 16);
  let left = MOST_BYTES;
  for (let i = 0; i < count; i++) {
    if (at + ENTRY_BYTES > bytes.length || bytes.readUInt32LE(at) !== ENTRY) throw damaged();
    const nameBytes = bytes.readUInt16LE(at + 28);
    const raw = bytes.toString("utf8", at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes);
    const path = checkPath(raw);
    const mode = bytes.readUInt32LE(at + 38) >>> 16;
    const kind = mode & KIND_MASK;
    if (kind === LINK_KIND) throw refuse(`"${path}" is a link`);
    if (!raw.endsWith("/")) {
      if (kind !== 0 && kind !== FILE_KIND) throw refuse(`"${path}" isn't a plain file`);
      const content = await readEntry(bytes, at, left);
      left -= content.length;
      files.push({ path, content, isProgram: (mode & 0o100) !== 0 });
    }
    at += ENTRY_BYTES + nameBytes + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return files;
}

async function readEntry(bytes: Buffer, at: number, most: number): Promise<Buffer> {
  const flags = bytes.readUInt16LE(at + 8);
  const way = bytes.readUInt16LE(at + 10);
  const packed = bytes.readUInt32LE(at + 20);
  const size = bytes.readUInt32LE(at + 24);
  const start = bytes.readUInt32LE(at + 42);
  if ((flags & 1) !== 0) throw refuse("the archive is encrypted");
  if (size > most) throw tooLarge();
  if (start + 30 > bytes.length || bytes.readUInt32LE(start) !== LOCAL) throw refuse("the archive is damaged");
  const from = start + 30 + bytes.readUInt16LE(start + 26) + bytes.readUInt16LE(start + 28);
  const body = bytes.subarray(from, from + packed);
  if (body.length !== packed) throw refuse("the archive is cut off");
  if (way === 0) return Buffer.from(body);
  if (way !== 8) throw refuse("the archive is packed in a way that isn't known here");
  try {
    // What it says of its size is no bound: only this one holds.
    const content = await promisify(inflateRaw)(body, { maxOutputLength: Math.max(1, Math.min(size, most)) });
    if (content.length !== size) throw refuse("the archive is damaged");
    return content;
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE"
      ? tooLarge()
      : refuse("it can't be unpacked");
  }
}

function findEnd(bytes: Buffer): number {
  const first = Math.max(0, bytes.length - END_BYTES - LONGEST_COMMENT);
  for (let at = bytes.length - END_BYTES; at >= first; at--) if (bytes.readUInt32LE(at) === END) return at;
  return -1;
}
