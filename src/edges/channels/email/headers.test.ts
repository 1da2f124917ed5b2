import { describe, expect, test } from "vitest";
import { automatic, findThread, parseHeaders, parseResults, unproven } from "./headers.ts";

const trust = { authserv: ["mx.house.test"], authenticate: true };
const mail = (...lines: string[]) => parseHeaders(["From: Ann <ann@people.test>", ...lines, ""].join("\r\n"));
const judged = (...results: string[]) =>
  unproven(mail(...results.map((one) => `Authentication-Results: ${one}`)), "ann@people.test", trust);

describe("who wrote a mail (EMAIL-1, CH-01)", () => {
  test.each([
    "mx.house.test; dmarc=pass header.from=people.test",
    "mx.house.test 1; dmarc=pass (p=REJECT) header.from=people.test",
    "MX.house.test; spf=fail smtp.mailfrom=x.test; dkim=pass header.d=people.test header.s=k1",
    "mx.house.test; dkim=pass header.i=@people.test",
    "mx.house.test; spf=pass smtp.mailfrom=ann@people.test",
  ])("is proven by %s", (line) => expect(judged(line)).toBeUndefined());

  test.each([
    ["nothing at all", []],
    ["another server's word", ["mx.evil.test; dmarc=pass header.from=people.test"]],
    ["none", ["mx.house.test; none"]],
    [
      "a failed DMARC beside a passed DKIM",
      ["mx.house.test; dkim=pass header.d=people.test; dmarc=fail header.from=people.test"],
    ],
    ["DMARC of another domain", ["mx.house.test; dmarc=pass header.from=evil.test"]],
    ["DKIM of another domain", ["mx.house.test; dkim=pass header.d=evil.test"]],
    ["DKIM of a domain below", ["mx.house.test; dkim=pass header.d=evil.people.test"]],
    ["DKIM of a domain that only ends alike", ["mx.house.test; dkim=pass header.d=ople.test"]],
    ["a verdict in a comment", ["mx.house.test; spf=none (x; dmarc=pass header.from=people.test)"]],
    ["a verdict in quotes", ['mx.house.test; spf=none reason="; dmarc=pass header.from=people.test"']],
    [
      "a line of the sender below the true one",
      ["mx.house.test; dkim=none", "mx.house.test; dmarc=pass header.from=people.test"],
    ],
  ])("is not proven by %s", (_what, lines) => expect(judged(...lines)).toBeDefined());

  test("is not proven when there are two From lines", () => {
    const two = mail(
      "From: <eve@people.test>",
      "Authentication-Results: mx.house.test; dmarc=pass header.from=people.test",
    );
    expect(unproven(two, "ann@people.test", trust)).toMatch(/more than one/);
  });

  test("a folded line is one line", () => {
    const folded = mail("Authentication-Results: mx.house.test;\r\n\tdmarc=pass\r\n  header.from=people.test");
    expect(unproven(folded, "ann@people.test", trust)).toBeUndefined();
    expect(parseResults("mx.house.test; dkim = pass header.d = a.test").verdicts[0]).toMatchObject({ result: "pass" });
  });
});

test.each([
  "Auto-Submitted: auto-replied",
  "Auto-Submitted: auto-generated (vacation)",
  "Precedence: bulk",
  "List-Id: <all.people.test>",
  "Return-Path: <>",
  "Content-Type: multipart/report; report-type=delivery-status",
  "X-Autoreply: yes",
])("a machine's mail is not answered: %s (EMAIL-2)", (line) => expect(automatic(mail(line))).toBeDefined());

test("a person's mail is", () =>
  expect(automatic(mail("Auto-Submitted: no", "Return-Path: <a@b.test>"))).toBeUndefined());

test("the first mail of a conversation names the thread", () => {
  expect(findThread(mail(), "<own@x>")).toEqual({ root: "<own@x>", isReply: false });
  expect(findThread(mail("References: <a@x> <b@x>", "In-Reply-To: <b@x>"), "<own@x>")).toEqual({
    root: "<a@x>",
    isReply: true,
  });
  expect(findThread(mail("In-Reply-To: <b@x>"), "<own@x>").root).toBe("<b@x>");
});
