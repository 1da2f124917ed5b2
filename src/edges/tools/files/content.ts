/** Is it text? And if not, what is it: a binary file is described to the model, never dumped. */

/** A NUL in the first part is what git and grep go by, too. */
const LOOKED_AT = 8192;

const MAGIC: readonly (readonly [string, string])[] = [
  ["89504e47", "PNG image"],
  ["ffd8ff", "JPEG image"],
  ["47494638", "GIF image"],
  ["52494646", "RIFF file (WebP, WAV or AVI)"],
  ["25504446", "PDF document"],
  ["504b0304", "ZIP archive (also docx, xlsx, jar)"],
  ["1f8b", "gzip archive"],
  ["fd377a585a00", "xz archive"],
  ["28b52ffd", "zstd archive"],
  ["425a68", "bzip2 archive"],
  ["7f454c46", "ELF program"],
  ["53514c69746520666f726d6174203300", "SQLite database"],
  ["4f676753", "Ogg audio"],
  ["494433", "MP3 audio"],
  ["fffe", "UTF-16 text (iconv turns it into UTF-8)"],
  ["feff", "UTF-16 text (iconv turns it into UTF-8)"],
];

/** What kind of binary file starts like this; undefined for text. */
export function binaryKind(start: Buffer): string | undefined {
  const hex = start.subarray(0, 16).toString("hex");
  const known = MAGIC.find(([magic]) => hex.startsWith(magic));
  const looked = start.subarray(0, LOOKED_AT);
  // Two bytes of magic prove little: they count only when the rest is not text either.
  if (looked.includes(0)) return known?.[1] ?? "binary file";
  return known && known[0].length > 4 && !isUtf8(looked) ? known[1] : undefined;
}

/** The images models can look at, by how they start. */
export function imageType(start: Buffer): string | undefined {
  const hex = start.subarray(0, 12).toString("hex");
  if (hex.startsWith("89504e470d0a1a0a")) return "image/png";
  if (hex.startsWith("ffd8ff")) return "image/jpeg";
  if (/^47494638(37|39)61/.test(hex)) return "image/gif";
  return /^52494646.{8}57454250/.test(hex) ? "image/webp" : undefined;
}

/** Width and height, when they stand where they should. */
export function imageSize(start: Buffer): { width: number; height: number } | undefined {
  const type = imageType(start);
  try {
    if (type === "image/png") return { width: start.readUInt32BE(16), height: start.readUInt32BE(20) };
    if (type === "image/gif") return { width: start.readUInt16LE(6), height: start.readUInt16LE(8) };
    if (type === "image/webp") return webpSize(start);
    return type === "image/jpeg" ? jpegSize(start) : undefined;
  } catch (error) {
    // Cut off before the size: then it is not said.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function webpSize(start: Buffer): { width: number; height: number } | undefined {
  switch (start.toString("latin1", 12, 16)) {
    case "VP8X":
      return { width: start.readUIntLE(24, 3) + 1, height: start.readUIntLE(27, 3) + 1 };
    case "VP8 ":
      return { width: start.readUInt16LE(26) & 0x3fff, height: start.readUInt16LE(28) & 0x3fff };
    case "VP8L": {
      const bits = start.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    default:
      return undefined;
  }
}

/** Segments follow each other with their lengths; the one called "start of frame" has the size. */
function jpegSize(start: Buffer): { width: number; height: number } | undefined {
  for (let at = 2; start[at] === 0xff; ) {
    const marker = start.readUInt8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { width: start.readUInt16BE(at + 7), height: start.readUInt16BE(at + 5) };
    at += 2 + start.readUInt16BE(at + 2);
  }
  return undefined;
}

/** The text of a UTF-8 file, byte order mark included; undefined when it is not UTF-8. */
export function decodeText(content: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return undefined;
  }
}

export function humanSize(bytes: number): string {
  if (bytes < 1024) return bytes === 1 ? "1 byte" : `${bytes} bytes`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

function isUtf8(bytes: Uint8Array): boolean {
  // `stream` forgives a sign that is cut at the end of the part we look at.
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
