/** The files of a tar archive, gzipped or not. Only plain files and folders; anything else refuses the archive (PLUGINS-3). */
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { checkPath, MOST_BYTES, MOST_FILES, type PluginFile, refuse, tooLarge, tooMany } from "./files.ts";

const BLOCK = 512;
const FILE_TYPES = new Set(["0", "\0", "7"]);
/** Headers and padding of the most files that are taken. */
const MOST_OVERHEAD = MOST_FILES * 4 * BLOCK;

export function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

export function isTar(bytes: Buffer): boolean {
  return bytes.length >= BLOCK && bytes.toString("latin1", 257, 262) === "ustar";
}

export async function readTar(given: Buffer): Promise<PluginFile[]> {
  const bytes = isGzip(given) ? await unzipped(given) : given;
  if (!isTar(bytes)) throw refuse("it isn't a tar archive");
  const files: PluginFile[] = [];
  let nextPath: string | undefined;
  let total = 0;
  for (let at = 0; at + BLOCK <= bytes.length; ) {
    const header = bytes.subarray(at, at + BLOCK);
    if (header.every((byte) => byte === 0)) break;
    const size = readSize(header);
    const body = bytes.subarray(at + BLOCK, at + BLOCK + size);
    if (body.length < size) throw refuse("the archive is cut off");
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    const type = header.toString("latin1", 156, 157);
    if (type === "g") continue;
    if (type === "x" || type === "L") {
      nextPath = type === "x" ? readPaxPath(body) : untilZero(body);
      continue;
    }
    const path = checkPath(nextPath ?? headerPath(header));
    nextPath = undefined;
    if (type === "5") continue;
    if (type === "1" || type === "2") throw refuse(`"${path}" is a link`);
    if (!FILE_TYPES.has(type)) throw refuse(`"${path}" isn't a plain file`);
    total += size;
    if (total > MOST_BYTES) throw tooLarge();
    if (files.length >= MOST_FILES) throw tooMany();
    files.push({ path, content: Buffer.from(body), isProgram: (readOctal(header, 100, 8) & 0o100) !== 0 });
  }
  return files;
}

async function unzipped(given: Buffer): Promise<Buffer> {
  try {
    return await promisify(gunzip)(given, { maxOutputLength: MOST_BYTES + MOST_OVERHEAD });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE"
      ? tooLarge()
      : refuse("it can't be unpacked");
  }
}

function headerPath(header: Buffer): string {
  const prefix = untilZero(header.subarray(345, 500));
  const name = untilZero(header.subarray(0, 100));
  return prefix === "" ? name : `${prefix}/${name}`;
}

function readSize(header: Buffer): number {
  // The other way of writing it is for files of more than 8 GB.
  if ((header[124]! & 0x80) !== 0) throw tooLarge();
  return readOctal(header, 124, 12);
}

function readOctal(header: Buffer, from: number, length: number): number {
  const digits = header
    .toString("latin1", from, from + length)
    .replaceAll("\0", " ")
    .trim();
  if (!/^[0-7]{0,12}$/.test(digits)) throw refuse("the archive is damaged");
  return digits === "" ? 0 : Number.parseInt(digits, 8);
}

function untilZero(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString("utf8", 0, end < 0 ? bytes.length : end);
}

/** Records of `length key=value` and a line break. */
function readPaxPath(body: Buffer): string | undefined {
  let path: string | undefined;
  for (let at = 0; at < body.length; ) {
    const blank = body.indexOf(0x20, at);
    const length = Number(body.toString("latin1", at, blank < 0 ? at : blank));
    if (!Number.isInteger(length) || length <= 0 || at + length > body.length) throw refuse("the archive is damaged");
    const record = body.toString("utf8", blank + 1, at + length - 1);
    if (record.startsWith("path=")) path = record.slice("path=".length);
    if (record.startsWith("linkpath=")) throw refuse("there are links in it");
    // A size in here would contradict the one that is checked.
    if (record.startsWith("size=")) throw tooLarge();
    at += length;
  }
  return path;
}
