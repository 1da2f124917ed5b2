/** Archives that somebody made to break out, to fill the disk, or to hide what they are (SK-12). */
import { deflateRawSync, gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { makeTar, type TarEntry } from "../testing.ts";
import { digestFiles, digestPlugin, withoutTopFolder } from "./files.ts";
import { readTar } from "./tar.ts";
import { readZip } from "./zip.ts";

const plain: TarEntry = { path: "plugin.json", content: "{}" };

it("a tar archive is read, gzipped or not, with its programs marked", async () => {
  const long = `${"deep/".repeat(10)}${"n".repeat(90)}`;
  const tar = makeTar([plain, { path: "bin/run", content: "x", mode: 0o755 }, { path: long, content: "far" }]);
  for (const bytes of [tar, gzipSync(tar)]) {
    const files = await readTar(bytes);
    expect(files.map(({ path, isProgram }) => [path, isProgram])).toEqual([
      ["plugin.json", false],
      ["bin/run", true],
      [long, false],
    ]);
    expect(files[2]!.content.toString()).toBe("far");
  }
});

it.each<[string, TarEntry, string]>([
  ["a symbolic link", { path: "a", type: "2", link: "/etc/passwd" }, '"a" is a link'],
  ["a symbolic link inside", { path: "a", type: "2", link: "plugin.json" }, '"a" is a link'],
  ["a hard link", { path: "a", type: "1", link: "plugin.json" }, '"a" is a link'],
  ["a device", { path: "a", type: "3" }, "isn't a plain file"],
  ["a pipe", { path: "a", type: "6" }, "isn't a plain file"],
  ["a way up", { path: "../../evil", content: "x" }, "outside the plugin's folder"],
  ["a way up in the middle", { path: "a/../../evil", content: "x" }, "outside the plugin's folder"],
  ["an absolute path", { path: "/etc/cron.d/evil", content: "x" }, "outside the plugin's folder"],
  ["a drive", { path: "C:/evil", content: "x" }, "outside the plugin's folder"],
  ["backslashes", { path: "..\\evil", content: "x" }, "outside the plugin's folder"],
  ["control characters", { path: "a\nb", content: "x" }, "control characters"],
])("SK-12, PLUGINS-3: %s in a tar archive refuses the whole of it", async (_what, entry, why) => {
  await expect(readTar(makeTar([plain, entry]))).rejects.toThrow(why);
});

it("SK-12: a bomb is refused while it is unpacked, and so are 10,000 files", async () => {
  const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024));
  expect(bomb.length).toBeLessThan(300_000);
  await expect(readTar(bomb)).rejects.toThrow("larger than 64 MB");
  const many = makeTar(Array.from({ length: 10_000 }, (_, i) => ({ path: `f${i}`, content: "" })));
  await expect(readTar(gzipSync(many))).rejects.toThrow("more than 5000 files");
});

it("a tar archive that is cut off or lies about its sizes is refused", async () => {
  const tar = makeTar([{ path: "a", content: "x".repeat(2000) }]);
  await expect(readTar(tar.subarray(0, 1024))).rejects.toThrow("cut off");
  await expect(readTar(gzipSync(Buffer.from("no tar")))).rejects.toThrow("isn't a tar archive");
  await expect(readTar(Buffer.from([0x1f, 0x8b, 1, 2, 3]))).rejects.toThrow("can't be unpacked");
});

it("a zip archive is read", async () => {
  const files = await readZip(
    makeZip([
      { name: "p/plugin.json", content: "{}" },
      { name: "p/run", content: "x", mode: 0o100755 },
    ]),
  );
  expect(withoutTopFolder(files).map(({ path, isProgram }) => [path, isProgram])).toEqual([
    ["plugin.json", false],
    ["run", true],
  ]);
});

it.each([
  ["a link", { name: "a", content: "/etc/passwd", mode: 0o120777 }, '"a" is a link'],
  ["a way up", { name: "../evil", content: "x" }, "outside the plugin's folder"],
  ["a bomb that says it is small", { name: "a", content: "x".repeat(50_000_000), says: 10 }, "larger than"],
  ["a bomb that says what it is", { name: "a", content: "x".repeat(70_000_000) }, "larger than"],
  ["a size that isn't true", { name: "a", content: "x", says: 1000 }, "can't be unpacked"],
])("SK-12: %s in a zip archive refuses the whole of it", async (_what, entry, why) => {
  await expect(readZip(makeZip([entry]))).rejects.toThrow(why);
});

it("a digest changes with any byte, any name, and with what is a program", () => {
  const file = { path: "a", content: Buffer.from("x"), isProgram: false };
  const digest = (...files: (typeof file)[]) => digestPlugin(digestFiles(files));
  const other = { path: "b", content: Buffer.from("y"), isProgram: false };
  expect(digest(file, other)).toBe(digest(other, file));
  const all = [digest(file), digest({ ...file, path: "b" }), digest({ ...file, isProgram: true }), digest(file, other)];
  expect(new Set([...all, digest({ ...file, content: Buffer.from("z") })]).size).toBe(5);
});

function makeZip(entries: { name: string; content: string; mode?: number; says?: number }[]): Buffer {
  const locals: Buffer[] = [];
  const cards: Buffer[] = [];
  let at = 0;
  for (const { name, content, mode = 0o100644, says } of entries) {
    const body = deflateRawSync(Buffer.from(content));
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(8, 8);
    local.writeUInt16LE(name.length, 26);
    const card = Buffer.alloc(46);
    card.writeUInt32LE(0x02014b50, 0);
    card.writeUInt16LE(8, 10);
    card.writeUInt32LE(body.length, 20);
    card.writeUInt32LE(says ?? content.length, 24);
    card.writeUInt16LE(name.length, 28);
    card.writeUInt32LE((mode << 16) >>> 0, 38);
    card.writeUInt32LE(at, 42);
    locals.push(local, Buffer.from(name), body);
    cards.push(card, Buffer.from(name));
    at += 30 + name.length + body.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...locals, ...cards, end]);
}
