/** Archives for tests, also such as no program would make. */
export interface TarEntry {
  path: string;
  content?: string;
  mode?: number;
  /** A digit of the format: 0 a file, 1 and 2 links, 5 a folder. */
  type?: string;
  link?: string;
}

export function makeTar(entries: readonly TarEntry[]): Buffer {
  const blocks = entries.flatMap(({ path, content = "", mode = 0o644, type = "0", link = "" }) => {
    const name = Buffer.from(path);
    const long = name.length > 100 ? [header("././@LongLink", name.length, 0o644, "L"), padded(name)] : [];
    const body = Buffer.from(content);
    return [...long, header(path.slice(0, 100), body.length, mode, type, link), padded(body)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

function header(path: string, size: number, mode: number, type: string, link = ""): Buffer {
  const block = Buffer.alloc(512);
  block.write(path, 0, 100);
  block.write(mode.toString(8).padStart(7, "0"), 100);
  block.write(size.toString(8).padStart(11, "0"), 124);
  block.write(type, 156);
  block.write(link, 157, 100);
  block.write("ustar\x0000", 257);
  return block;
}

function padded(body: Buffer): Buffer {
  return Buffer.concat([body, Buffer.alloc((512 - (body.length % 512)) % 512)]);
}
