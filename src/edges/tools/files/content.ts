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

/** The text of a UTF-8 file, byte order mark included; undefined when it is not UTF-8. */
export function decodeText(content: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return undefined;
  }
}

export function humanSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
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
