/** One look at a feed, a page, a folder: what is new, and what the next look needs. */
import { mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { expectLinear } from "../../../test/support/growth.ts";
import type { Json } from "../../core/domain/index.ts";
import { systemClock } from "../../core/kit/index.ts";
import { parseEntries } from "./feed.ts";
import { readText } from "./imap.ts";
import { type Look, type LookParts, look, type Watched, watchConfig } from "./index.ts";

const never = AbortSignal.timeout(60_000);
const watched = (one: object) => watchConfig.parse({ one }).one as Watched;
/** A site that answers with these bodies, one after the other; a number is a status. */
const site = (...answers: (string | number)[]) => {
  const asked: Record<string, string>[] = [];
  const fetch: LookParts["fetch"] = async (request) => {
    asked.push(request.headers);
    const next = answers.shift()!;
    if (typeof next === "number") return { status: next, headers: {} as Record<string, string>, body: Buffer.alloc(0) };
    const headers = { etag: `"${asked.length}"`, "content-type": "text/html" };
    return { status: 200, headers, body: Buffer.from(next) };
  };
  return { asked, parts: { clock: systemClock, fetch } };
};
const bodies = ({ items }: Look) => items.map((item) => item.body);

const rss = (...names: string[]) =>
  `<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>${names
    .map((n) => `<item><title><![CDATA[${n} & more]]></title><link>https://x/${n}</link><guid>${n}</guid></item>`)
    .join("")}</channel></rss>`;

describe("a feed", () => {
  const feed = watched({ kind: "feed", url: "https://example.com/feed" });

  test("at first only teaches what is there; then tells what is new, oldest first, each once", async () => {
    const { parts, asked } = site(rss("a"), rss("c", "b", "a"), 304, rss("b", "c"), rss("d", "a"));
    const first = await look(parts, feed, null, never);
    expect(first.items).toEqual([]);
    const second = await look(parts, feed, first.cursor, never);
    expect(bodies(second)).toEqual(["b & more\nhttps://x/b", "c & more\nhttps://x/c"]);
    const third = await look(parts, feed, second.cursor, never);
    expect(third).toEqual({ items: [], cursor: second.cursor });
    expect(asked[2]).toMatchObject({ "if-none-match": '"2"' });
    const fourth = await look(parts, feed, third.cursor, never);
    expect(fourth.items).toEqual([]);
    // "a" left the feed and came back: it is not new.
    expect(bodies(await look(parts, feed, fourth.cursor, never))).toEqual(["d & more\nhttps://x/d"]);
  });

  test("of Atom has its links and summaries; entities outside XML's own are left alone", () => {
    const atom = `<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>urn:1</id><title type="html">A &lt;b&gt; &#x41;&bomb;</title>
      <link rel="alternate" href="https://x/1?a=1&amp;b=2"/><updated>2026-01-01</updated><summary>&lt;p&gt;Hi&lt;/p&gt;</summary></entry></feed>`;
    expect(parseEntries(atom)).toMatchObject([{ body: "A <b> A&bomb;\nhttps://x/1?a=1&b=2\n2026-01-01\nHi" }]);
  });

  test("that is none, broken or made to hang is refused or read in a moment", async () => {
    expect(parseEntries("<html><body>hello</body></html>")).toBeUndefined();
    expect(parseEntries("<rss><item><title>never closed")).toEqual([]);
    for (const piece of ["<item ", "<item><title>"])
      expectLinear((size) => parseEntries(`<rss>${piece.repeat(size)}`), 100_000);
    await expect(look(site(500).parts, feed, null, never)).rejects.toThrow("example.com answered 500");
    await expect(look(site("<html>").parts, feed, null, never)).rejects.toThrow("return a feed");
  });
});

describe("a page", () => {
  const page = watched({ kind: "page", url: "https://example.com/p" });

  test("tells which lines came and went, and nothing for what a reader does not see", async () => {
    const html = (text: string, hidden = "1") =>
      `<!doctype html><html><head><style>a{}</style><script>let a=${hidden}</script></head><body><p>Same</p><p>${text}</p></body></html>`;
    const { parts } = site(html("Price: 10"), html("Price: 10", "2"), html("Price: 12"), html("Price: 10"));
    let cursor: Json | null = null;
    const said: string[][] = [];
    const ids = new Set<string>();
    for (let i = 0; i < 4; i++) {
      const seen: Look = await look(parts, page, cursor, never);
      for (const { id } of seen.items) ids.add(id);
      said.push(bodies(seen));
      cursor = seen.cursor;
    }
    const url = "https://example.com/p";
    expect(said).toEqual([[], [], [`${url}\n+ Price: 12\n- Price: 10`], [`${url}\n+ Price: 10\n- Price: 12`]]);
    expect(ids.size).toBe(2);
  });
});

describe("files", () => {
  const dirs: string[] = [];
  afterEach(() => {
    for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
  });

  test("that are new, changed or gone are told by name; links are not followed, half-written ones wait", async () => {
    const dir = mkdtempSync(join(tmpdir(), "lares-watch-"));
    dirs.push(dir);
    const write = (name: string, text: string, ageMs = 5000) => {
      writeFileSync(join(dir, name), text);
      const at = (Date.now() - ageMs) / 1000;
      utimesSync(join(dir, name), at, at);
    };
    const { parts } = site();
    const files = watched({ kind: "files", path: dir });
    write("a", "1");
    write("b", "1");
    let seen = await look(parts, files, null, never);
    expect(seen.items).toEqual([]);
    write("a", "22");
    write("c", "3");
    rmSync(join(dir, "b"));
    symlinkSync("/etc", join(dir, "etc"));
    write("busy", "half", -50);
    seen = await look(parts, files, seen.cursor, never);
    expect(bodies(seen)[0]!.split("\n").slice(1).sort()).toEqual(["changed: a", "gone: b", "new: busy", "new: c"]);
    write("late", "half", 0);
    const before = seen.cursor;
    seen = await look(parts, files, before, never);
    expect(seen).toEqual({ items: [], cursor: before });
    write("late", "whole");
    seen = await look(parts, files, seen.cursor, never);
    expect(bodies(seen)[0]).toContain("new: late");
    expect((await look(parts, files, seen.cursor, never)).items).toEqual([]);
  });
});

test("the text of a mail is found in its parts and decoded", () => {
  const mail = [
    'Content-Type: multipart/mixed; boundary="xx"',
    "",
    "--xx",
    "Content-Type: text/html",
    "",
    "<b>no</b>",
    "--xx",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: quoted-printable",
    "",
    "Gr=C3=BC=C3=9Fe and a long =",
    "line",
    "--xx--",
  ].join("\r\n");
  expect(readText(mail)).toBe("Grüße and a long line");
});
