import { describe, expect, test } from "vitest";
import { isLoopbackHost, isLoopbackName, parseHost, whyNotGlobal } from "../../src/core/kit/index.ts";
import fc from "../support/property.ts";

describe("NET-01: a host is judged as what it means (ADDRESS-3)", () => {
  test.each([
    ["127.0.0.1", "127.0.0.1"],
    ["0", "0.0.0.0"],
    ["0.0.0.0", "0.0.0.0"],
    ["2130706433", "127.0.0.1"],
    ["0x7f.1", "127.0.0.1"],
    ["0x7f000001", "127.0.0.1"],
    ["0X7F.0x0.0X0.0x1", "127.0.0.1"],
    ["017700000001", "127.0.0.1"],
    ["0177.0.0.01", "127.0.0.1"],
    ["127.1", "127.0.0.1"],
    ["127.0.1", "127.0.0.1"],
    ["127.0.0.1.", "127.0.0.1"],
    ["127.65535", "127.0.255.255"],
    ["%31%32%37.0.0.1", "127.0.0.1"],
    ["127%2e0%2E0%2e1", "127.0.0.1"],
    ["１２７.０.０.１", "127.0.0.1"],
    ["127。0。0。1", "127.0.0.1"],
    ["①②⑦.⓪.⓪.①", "127.0.0.1"],
    ["0x7f。1", "127.0.0.1"],
    ["[::1]", "::1"],
    ["::1", "::1"],
    ["[0:0:0:0:0:0:0:1]", "::1"],
    ["[0000:0000:0000:0000:0000:0000:0000:0001]", "::1"],
    ["[::]", "::"],
    ["[::ffff:127.0.0.1]", "127.0.0.1"],
    ["[::FFFF:7F00:1]", "127.0.0.1"],
    ["[0:0:0:0:0:ffff:7f00:0001]", "127.0.0.1"],
    ["3232235777", "192.168.1.1"],
    ["0xa9fea9fe", "169.254.169.254"],
    ["0251.0376.0251.0376", "169.254.169.254"],
    ["10.1", "10.0.0.1"],
  ])("%s is the address %s, which is not public", (text, address) => {
    expect(parseHost(text)).toEqual({ kind: "address", host: address });
    expect(whyNotGlobal(address)).toBeDefined();
  });

  test.each([
    ["localhost", "localhost"],
    ["LOCALHOST", "localhost"],
    ["localhost.", "localhost"],
    ["LocalHost%2e", "localhost"],
    ["ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "localhost"],
    ["ｌｏｃａｌｈｏｓｔ", "localhost"],
    ["local\u00adhost", "localhost"],
    ["a.b.localhost", "a.b.localhost"],
    ["A.LOCALHOST.", "a.localhost"],
    ["localhost.localdomain", "localhost.localdomain"],
  ])("%s is this machine", (text, name) => {
    expect(parseHost(text)).toEqual({ kind: "name", host: name });
    expect(isLoopbackName(name)).toBe(true);
  });

  test.each(["localhost.example.com", "notlocalhost", "mylocalhost.org"])("%s is an ordinary name", (name) => {
    expect(isLoopbackName(parseHost(name)!.host)).toBe(false);
  });

  test.each(["localhost", "LOCALHOST.", "127.0.0.1", "127.8.8.8", "::1", "[::1]", "[::ffff:127.0.0.1]"])(
    "%s means this machine",
    (host) => {
      expect(isLoopbackHost(host)).toBe(true);
    },
  );

  test.each(["localhost.example.com", "127.example.com", "127.0.0.1.example.com", "10.0.0.1", "[::2]", ""])(
    "%s means another machine",
    (host) => {
      expect(isLoopbackHost(host)).toBe(false);
    },
  );

  test("names are compared in lower case ASCII without the last dot", () => {
    expect(parseHost("Bücher.Example.")).toEqual({ kind: "name", host: "xn--bcher-kva.example" });
  });

  test.each([
    "",
    ".",
    "..",
    "a..b",
    "a b",
    "a/b",
    "a@b",
    "a:80",
    "a#b",
    "a?b",
    "a\\b",
    "1.2.3.4.5",
    "256.1.1.1",
    "4294967296",
    "0x100000000",
    "09.1.1.1",
    "1.2.3.999",
    "[::1",
    "::1%eth0",
    "[fe80::1%25eth0]",
    "1::2::3",
    "12345::",
    "127.0.0.1%2f",
    "127.0.0.1%00",
    "a%40b",
    "a\tb",
  ])("%j is no host", (text) => {
    expect(parseHost(text)).toBeUndefined();
  });
});

describe("NET-03: whatever is not public unicast is refused (ADDRESS-1)", () => {
  test.each([
    "0.0.0.0",
    "0.255.255.255",
    "10.0.0.0",
    "10.255.255.255",
    "100.64.0.0",
    "100.64.0.1",
    "100.100.100.200",
    "100.127.255.255",
    "127.0.0.0",
    "127.255.255.255",
    "168.63.129.16",
    "169.254.0.0",
    "169.254.169.254",
    "172.16.0.0",
    "172.31.255.255",
    "192.0.0.0",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.0",
    "192.168.255.255",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.7",
    "203.0.113.7",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::2",
    "100::1",
    "fc00::1",
    "fd00:ec2::254",
    "fdff::1",
    "fe80::1",
    "febf::1",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
    "2001::1",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:db8::1",
    "3ffe::1",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "8000::1",
    "64:ff9b:1::8.8.8.8",
    "not an address",
    "",
    "0x7f.1",
    "010.8.8.8",
    "8.8.8",
  ])("%s", (address) => {
    expect(whyNotGlobal(address)).toBeDefined();
  });

  test.each([
    ["IPv4-mapped", "::ffff:10.0.0.1"],
    ["IPv4-mapped, in hexadecimal", "::ffff:a9fe:a9fe"],
    ["NAT64", "64:ff9b::127.0.0.1"],
    ["NAT64 to metadata", "64:ff9b::a9fe:a9fe"],
    ["6to4", "2002:7f00:1::1"],
    ["6to4 of a private network", "2002:c0a8:101::"],
    ["Teredo client, inverted", "2001:0:808:808:0:0:80ff:fffe"],
    ["Teredo server", "2001:0:7f00:1:0:0:f7f7:f7f7"],
    ["IPv4-compatible", "::127.0.0.1"],
    ["IPv4-compatible, public", "::8.8.8.8"],
    ["IPv4-translated", "::ffff:0:127.0.0.1"],
    ["ISATAP", "2600::5efe:7f00:1"],
    ["ISATAP, global flag", "2600::200:5efe:10.0.0.1"],
  ])("%s: the address inside is judged (%s)", (_how, address) => {
    expect(whyNotGlobal(address)).toBeDefined();
  });

  test("the reason names the address inside (ADDRESS-2)", () => {
    expect(whyNotGlobal("64:ff9b::7f00:1")).toBe("NAT64 to 127.0.0.1: loopback");
    expect(whyNotGlobal("2001:0:808:808::80ff:fffe")).toBe("Teredo to 127.0.0.1: loopback");
  });

  test.each([
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.1",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.1",
    "192.0.3.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2001:4860:4860::8888",
    "2a00:1450::1",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:808:808::1",
  ])("%s is public: the ranges end where they end", (address) => {
    expect(whyNotGlobal(address)).toBeUndefined();
  });

  test("every spelling of an IPv4 address gets the same judgement as the address", () => {
    const byte = fc.integer({ min: 0, max: 255 });
    const spell = (n: number, how: number) => [`${n}`, `0${n.toString(8)}`, `0x${n.toString(16)}`][how]!;
    const forms = fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(
        fc.tuple(byte, byte, byte, byte),
        forms,
        fc.integer({ min: 1, max: 4 }),
        ([a, b, c, d], how, parts) => {
          const dotted = `${a}.${b}.${c}.${d}`;
          const tails = [a * 2 ** 24 + b * 2 ** 16 + c * 256 + d, b * 2 ** 16 + c * 256 + d, c * 256 + d, d];
          const numbers = [...[a, b, c].slice(0, parts - 1), tails[parts - 1]!];
          const text = numbers.map((n, i) => spell(n, how[i]!)).join(".");
          expect(parseHost(text)).toEqual({ kind: "address", host: dotted });
          for (const carrier of [`::ffff:${dotted}`, `64:ff9b::${dotted}`]) {
            expect(whyNotGlobal(carrier) === undefined).toBe(whyNotGlobal(dotted) === undefined);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("judging and canonicalising never throw, and a canonical host is its own canonical form", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: "grapheme" }), fc.domain(), fc.ipV4(), fc.ipV6()), (text) => {
        whyNotGlobal(text);
        const host = parseHost(text);
        if (host) expect(parseHost(host.host)).toEqual(host);
      }),
      { numRuns: 3000 },
    );
  });
});
