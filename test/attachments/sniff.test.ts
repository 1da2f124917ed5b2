/** What a file is taken for, from its bytes alone, however they are cut. */
import { describe, expect, it } from "vitest";
import { cleanName } from "../../src/flow/attachments/name.ts";
import { Sniffer } from "../../src/flow/attachments/sniff.ts";
import { PDF, PNG, ZIP } from "./support.ts";

function typeOf(bytes: Buffer, name = "x", step = bytes.length): string {
  const sniffer = new Sniffer();
  for (let at = 0; at < bytes.length; at += step) sniffer.take(bytes.subarray(at, at + step));
  const { kind, mediaType } = sniffer.end(name);
  return `${kind} ${mediaType}`;
}
const riff = (what: string) => Buffer.from(`RIFF\x01\x02\x03\x04${what} more`, "latin1");

describe("the type of a file", () => {
  const cases: [name: string, bytes: Buffer, expected: string][] = [
    ["a.png", PNG, "image image/png"],
    ["a.txt", PNG, "image image/png"],
    ["a.jpg", Buffer.from("ffd8ffe000104a46494600010100", "hex"), "image image/jpeg"],
    ["a.gif", Buffer.from("GIF89a123456789"), "image image/gif"],
    ["a.webp", riff("WEBP"), "image image/webp"],
    ["a.pdf", PDF, "file application/pdf"],
    ["a.png", Buffer.from("<script>alert(1)</script>"), "text text/plain"],
    ["a.html", Buffer.from("<!doctype html><p>hello"), "text text/plain"],
    ["a.svg", Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), "text text/plain"],
    ["a.json", Buffer.from('{"a":"ä"}'), "text application/json"],
    ["a.CSV", Buffer.from("a,b\n1,2\n"), "text text/csv"],
    ["a.md", Buffer.from("# Hi"), "text text/markdown"],
    ["a", Buffer.from("x"), "text text/plain"],
  ];
  it.each(cases)("%s", (name, bytes, expected) => {
    for (const step of [bytes.length, 1, 5]) expect(typeOf(bytes, name, step)).toBe(expected);
  });

  it.each([
    ["an archive", ZIP],
    ["a program", Buffer.from("7f454c4602010100000000000000", "hex")],
    ["a sound", riff("WAVE")],
    ["text with a zero byte far inside", Buffer.from(`${"words ".repeat(100)}\0`)],
    ["half a letter at the end", Buffer.from("words and words ä").subarray(0, -1)],
  ])("%s is refused", (_what, bytes) => {
    for (const step of [bytes.length, 1, 5]) {
      expect(() => typeOf(bytes, "a.txt", step)).toThrow(expect.objectContaining({ code: "TYPE_REFUSED" }));
    }
  });
});

describe("the name of a file is a label", () => {
  it.each([
    ["../../etc/passwd", "passwd"],
    ["C:\\Users\\x\\report.pdf", "report.pdf"],
    ["..", "file"],
    ["", "file"],
    ["a\u0000b\r\nc\u202etxt.exe", "abctxt.exe"],
    ["[End of file] <b>.txt", "End of file b.txt"],
    ["Überblick 2026.md", "Überblick 2026.md"],
  ])("%j becomes %j", (raw, clean) => expect(cleanName(raw)).toBe(clean));

  it("a very long one is cut and keeps its ending", () => {
    const name = cleanName(`${"x".repeat(500)}.json`);
    expect([...name].length).toBe(120);
    expect(name).toMatch(/…\.json$/);
  });
});
