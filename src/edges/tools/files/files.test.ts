import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Json } from "../../../core/domain/index.ts";
import { never, type Scene, SECRET, scene } from "../testing.ts";
import { createList } from "./list.ts";
import { sha256 } from "./plan.ts";
import { createRead } from "./read.ts";
import { createWrite } from "./write.ts";

const read = (place: Scene, input: Json) => createRead().run(input, place, "k", never);
const write = (place: Scene, input: Json) => createWrite().run(input, place, "k", never);
const list = (place: Scene, input: Json) => createList().run(input, place, "k", never);
const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => `line ${from + i}\n`).join("");

test("a small file is read as it is, byte for byte", async () => {
  const place = await scene();
  const content = "\ufeffa\r\n  b\t\n\nGrüße 😀";
  await writeFile(join(place.workspace, "f"), content);
  expect((await read(place, { path: "f" })).text).toBe(content);
});

test("a range gives those lines and says where it stands", async () => {
  const place = await scene();
  await writeFile(join(place.workspace, "f"), numbered(1, 100));
  const { text } = await read(place, { path: "f", offset: 40, limit: 3 });
  expect(text).toBe("line 40\nline 41\nline 42\n[lines 40 to 42; the file goes on (792 bytes): read with offset 43]");
  expect((await read(place, { path: "f", offset: 99 })).text).toBe("line 99\nline 100\n[lines 99 to 100 of 100]");
  expect((await read(place, { path: "f", offset: 101 })).text).toBe(
    "[the file has 100 lines; offset 101 is past its end]",
  );
});

test("following the notes reads every line of a long file exactly once", async () => {
  const place = await scene();
  const content = Array.from({ length: 7000 }, (_, i) => `${i} ${"x".repeat(i % 90)} ü`).join("\n");
  await writeFile(join(place.workspace, "f"), content);
  let joined = "";
  for (let offset: number | undefined = 1, calls = 0; offset !== undefined && calls < 50; calls++) {
    const { text } = await read(place, { path: "f", offset });
    const note = /\n\[lines \d+ to \d+(?: of \d+)?(?:; the file goes on .*offset (\d+))?\]$/.exec(text);
    const next: string | undefined = note?.[1];
    joined += text.slice(0, note?.index ?? text.length) + (next ? "\n" : "");
    expect(Buffer.byteLength(text)).toBeLessThan(66_000);
    offset = next ? Number(next) : undefined;
  }
  expect(joined).toBe(content);
});

test("one line longer than the cap is cut between characters, with a note", async () => {
  const place = await scene();
  await writeFile(join(place.workspace, "f"), "ü€😀".repeat(30_000));
  const { text } = await read(place, { path: "f" });
  expect(text).toMatch(/line 1 is longer than 64\.0 KB and is cut/);
  expect(text).not.toContain("\ufffd");
  expect(Buffer.byteLength(text)).toBeLessThan(66_000);
});

test("a binary file is described, not dumped", async () => {
  const place = await scene();
  await writeFile(join(place.workspace, "p.png"), Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"));
  await writeFile(join(place.workspace, "x"), Buffer.from([1, 2, 0, 3]));
  expect((await read(place, { path: "p.png" })).text).toBe("[p.png is an image: image/png, 16 bytes]");
  expect((await read(place, { path: "x" })).text).toBe("[x is not text: binary file, 4 bytes]");
});

test("an empty file and a directory are said to be that", async () => {
  const place = await scene();
  await writeFile(join(place.workspace, "f"), "");
  expect((await read(place, { path: "f" })).text).toBe("[the file is empty]");
  await expect(read(place, { path: "." })).rejects.toThrow(/"\." is a directory/);
});

test("a plan for a path outside is marked; writing there, and going there over a link, is refused all the same", async () => {
  const place = await scene();
  await symlink(place.out, join(place.workspace, "link"));
  for (const path of ["../out/secret", "link/secret", "/etc/passwd", "~/x"]) {
    const plan = await createRead().plan({ path }, place);
    // What `~` stands for is not known here.
    if (/^[~l]/.test(path)) {
      expect(plan.outside, path).toMatch(/workspace|link/);
      if (path.startsWith("link"))
        expect(plan.outside).toContain("To read what a link leads to, give that path itself: policy.allow.read");
      await expect(read(place, { path }), path).rejects.toEqual(expect.objectContaining({ code: "PATH_OUTSIDE" }));
    } else expect(plan, path).toMatchObject({ beyond: true, risk: "read" });
    await expect(write(place, { path, content: "x" }), path).rejects.toEqual(
      expect.objectContaining({ code: "PATH_OUTSIDE" }),
    );
  }
  expect(await readFile(join(place.out, "secret"), "utf8")).toBe(SECRET);
});

test("a plan inside names the canonical target and no reason to ask", async () => {
  const place = await scene();
  await mkdir(join(place.workspace, "a"));
  await symlink("a", join(place.workspace, "b"));
  const plan = await createRead().plan({ path: "b/../b/./f" }, place);
  expect(plan).toMatchObject({ risk: "read", targets: [join(place.workspace, "a/f")] });
  expect(plan.outside).toBeUndefined();
});

test("a write's plan shows the whole content visibly and is bound to old and new content", async () => {
  const place = await scene();
  await writeFile(join(place.workspace, "f"), "old");
  const content = `${"a".repeat(20_000)}\u202e end`;
  const plan = await createWrite().plan({ path: "f", content }, place);
  expect(plan.shown).toContain(`${"a".repeat(20_000)}\\u{202e} end`);
  expect(plan.binding).toMatchObject({ sha256: sha256(content), old: sha256("old") });
  await writeFile(join(place.workspace, "f"), "other");
  expect((await createWrite().plan({ path: "f", content }, place)).binding).not.toEqual(plan.binding);
});

test("planning a write makes nothing", async () => {
  const place = await scene();
  const plan = await createWrite().plan({ path: "new/deep/f", content: "x" }, place);
  expect(plan.targets).toEqual([join(place.workspace, "new/deep/f")]);
  expect(await readdir(place.workspace)).toEqual([]);
});

test("a write creates with its directories and replaces, and says which", async () => {
  const place = await scene();
  expect((await write(place, { path: "d/f", content: "1" })).text).toBe("created d/f (1 byte)");
  expect((await write(place, { path: "d/f", content: "22" })).text).toBe("replaced d/f (2 bytes)");
  expect(await readFile(join(place.workspace, "d/f"), "utf8")).toBe("22");
});

test("the probe of a write knows whether the content is there", async () => {
  const place = await scene();
  const tool = createWrite();
  const input = { path: "d/f", content: "text" };
  const probe = () => tool.probe!(input, place, "k", { sameBoot: true, signal: never });
  expect(await probe()).toBeUndefined();
  await write(place, input);
  expect(await probe()).toMatchObject({ ok: { text: expect.stringMatching(/^wrote d\/f/) } });
  await writeFile(join(place.workspace, "d/f"), "tex!");
  expect(await probe()).toBeUndefined();
});

test("list is sorted, marks directories and links, enters no link and keeps .git closed", async () => {
  const place = await scene();
  await mkdir(join(place.workspace, "src/deep"), { recursive: true });
  await mkdir(join(place.workspace, ".git"));
  await writeFile(join(place.workspace, ".git/config"), "");
  await writeFile(join(place.workspace, "src/deep/x"), "");
  await writeFile(join(place.workspace, "b"), "");
  await writeFile(join(place.workspace, "a\n"), "");
  await symlink(place.out, join(place.workspace, "link"));
  expect((await list(place, {})).text).toBe(".git/\na\\u{a}\nb\nlink@\nsrc/");
  expect((await list(place, { depth: 3 })).text).toBe(".git/\na\\u{a}\nb\nlink@\nsrc/\nsrc/deep/\nsrc/deep/x");
  expect((await list(place, { path: "src" })).text).toBe("deep/");
  await expect(list(place, { path: "link" })).rejects.toEqual(expect.objectContaining({ code: "PATH_OUTSIDE" }));
});

test("a long list is cut and says so", async () => {
  const place = await scene();
  await Promise.all(Array.from({ length: 600 }, (_, i) => writeFile(join(place.workspace, `f${i}`), "")));
  const lines = (await list(place, {})).text.split("\n");
  expect(lines).toHaveLength(501);
  expect(lines.at(-1)).toMatch(/cut at 500 names/);
});

describe("a PDF", () => {
  const text = ["[Page 1]", ...Array.from({ length: 2998 }, (_, n) => `line ${n + 2}`), "the end"].join("\n");
  const pdf = async () => ({ text, pages: 40, pagesRead: 40 });
  test("is read as text with its pages marked, in parts when it is long", async () => {
    const place = await scene();
    await writeFile(join(place.workspace, "a.bin"), "%PDF-1.4\nwhatever");
    const first = await createRead({ pdf }).run({ path: "a.bin" }, place, "k", never);
    expect(first.text).toMatch(/^\[Page 1\]\nline 2\n/);
    expect(first.text).toMatch(/\[PDF, 40 pages; lines 1 to 2000 of its 3000 lines of text; .* offset 2001\]$/);
    const rest = await createRead({ pdf }).run({ path: "a.bin", offset: 2001 }, place, "k", never);
    expect(rest.text).toMatch(
      /^line 2001\n[\s\S]*the end\n\[PDF, 40 pages; lines 2001 to 3000 of its 3000 lines of text\]$/,
    );
    const past = await createRead({ pdf }).run({ path: "a.bin", offset: 3001 }, place, "k", never);
    expect(past.text).toContain("past its end");
  });

  test("of scanned pictures is named as such", async () => {
    const place = await scene();
    await writeFile(join(place.workspace, "a.pdf"), "%PDF-1.4\nwhatever");
    const scanned = async () => ({ text: "", pages: 2, pagesRead: 2 });
    const result = await createRead({ pdf: scanned }).run({ path: "a.pdf" }, place, "k", never);
    expect(result.text).toMatch(/2 pages without text/);
  });
});

describe("images", () => {
  const PNG = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAUCAYAAAC07w7bAAAADUlEQVR42mNk+M/wHwAEAQH/7nY0/wAAAABJRU5ErkJggg==",
    "base64",
  );
  test("an image is described with type and size, and named for whoever can show it", async () => {
    const place = await scene();
    await writeFile(join(place.workspace, "a.png"), PNG);
    const result = await createRead().run({ path: "a.png" }, place, "k", never);
    expect(result.text).toBe(`[a.png is an image: image/png, 10 × 20 pixels, ${PNG.length} bytes]`);
    expect(result.images).toBeUndefined();
    const image = { type: "image" as const, attachment: "at_1", mediaType: "image/png", name: "a.png" };
    const kept: { name: string; bytes: Buffer }[] = [];
    const keepPicture = async (picture: { name: string; bytes: Buffer }) => {
      kept.push(picture);
      return image;
    };
    expect(await createRead({ keepPicture }).run({ path: "a.png" }, place, "k", never)).toMatchObject({
      text: result.text,
      images: [image],
    });
    expect(kept).toMatchObject([{ name: "a.png", bytes: PNG }]);
  });

  test.each([
    ["gif", "image/gif", Buffer.concat([Buffer.from("GIF89a"), Buffer.from([3, 0, 4, 0])])],
    ["jpg", "image/jpeg", Buffer.from("ffd8ffe000040000ffc0000b0800040003011100", "hex")],
    [
      "webp",
      "image/webp",
      Buffer.concat([Buffer.from("RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0"), Buffer.from([2, 0, 0, 3, 0, 0])]),
    ],
  ])("%s is known by its contents, not its name", async (_kind, mediaType, bytes) => {
    const place = await scene();
    await writeFile(join(place.workspace, "picture.txt"), bytes);
    const result = await createRead().run({ path: "picture.txt" }, place, "k", never);
    expect(result.text).toContain(`${mediaType}, 3 × 4 pixels`);
    expect(result.meta).toMatchObject({ binary: mediaType });
  });

  test("one above 5 MB is described and not offered", async () => {
    const place = await scene();
    await writeFile(join(place.workspace, "a.png"), Buffer.concat([PNG, Buffer.alloc(5 * 1024 * 1024)]));
    const keepPicture = () => Promise.reject(new Error("asked for"));
    const result = await createRead({ keepPicture }).run({ path: "a.png" }, place, "k", never);
    expect(result.text).toMatch(/can't be shown/);
    expect(result.images).toBeUndefined();
  });
});
