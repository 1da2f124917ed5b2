import { describe, expect, test } from "vitest";
import { expectLinear } from "../../../../test/support/growth.ts";
import { readHtml, writtenText } from "./reply.ts";

describe("what a person wrote", () => {
  test.each([
    ["Yes.\n\nOn Sun, 15 Nov 2026 at 07:00, Lares <l@x.test> wrote:\n\n> Shall I?\n>\n> Say so.\n", "Yes."],
    ["Yes.\n\nOn Sun, 15 Nov 2026 at 07:00,\nLares <l@x.test> wrote:\n> Shall I?", "Yes."],
    ["Ja.\n\nAm 15.11.2026 um 07:00 schrieb Lares <l@x.test>:\n> Soll ich?", "Ja."],
    ["Oui.\n\nLe dim. 15 nov. 2026 à 07:00, Lares <l@x.test> a écrit :\n> ?", "Oui."],
    ["Yes.\n\n-----Original Message-----\nFrom: Lares\nShall I?", "Yes."],
    ["Yes.\r\n\r\nFrom: Lares <l@x.test>\r\nSent: Sunday\r\nTo: Ann\r\nSubject: a\r\n\r\nShall I?", "Yes."],
    ["On Sunday Lares <l@x.test> wrote:\n> Shall I?\n\nYes, below.", "Yes, below."],
    ["> Shall I?\n\nYes, below.", "Yes, below."],
    ["Yes.\n\n-- \nAnn\n+1 555", "Yes."],
  ])("%j is %j", (mail, own) => expect(writtenText(mail, true)).toBe(own));

  test("answers between the lines keep the lines", () => {
    const between = "On Sunday Lares wrote:\n> One?\n\nyes\n\n> Two?\n\nno";
    expect(writtenText(between, true)).toBe(between);
  });

  test("a mail that is no answer is kept whole, and so is one with nothing of its own", () => {
    const forwarded = "Look:\n\nOn Sunday Eve wrote:\n> hello";
    expect(writtenText(forwarded, false)).toBe(forwarded);
    expect(writtenText("> only this", true)).toBe("> only this");
  });

  test("HTML becomes text; a quote in it is cut like any other", () => {
    const html =
      "<html><head><style>p{}</style></head><body><p>Yes &amp; no<br>really</p><ul><li>one</li></ul><div>On Sunday Lares wrote:</div><blockquote><p>Shall&nbsp;I?</p><p>Well?</p></blockquote></body></html>";
    expect(writtenText(readHtml(html), true)).toBe("Yes & no\nreally\n\n- one");
  });

  test("a mail made to be slow is not", () => {
    for (const evil of ["<", "<!--", "<head", "<br", "&", "> \n", "On \n", "On x <a@b> "])
      expectLinear((size) => writtenText(readHtml(evil.repeat(size / evil.length)), true), 500_000);
  });
});
