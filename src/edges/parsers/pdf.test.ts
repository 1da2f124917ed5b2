import { expect, it } from "vitest";
import { makePdf as pdf } from "../../../test/support/pdf.ts";
import { createParsers } from "./index.ts";

const { pdf: readPdf } = createParsers(() => undefined);

it("reads the text page by page, and stops where there is enough", async () => {
  const file = pdf("Hello from page one", "and page two", "and page three");
  expect(await readPdf(file)).toEqual({
    text: "[Page 1]\nHello from page one\nsecond line\n\n[Page 2]\nand page two\nsecond line\n\n[Page 3]\nand page three\nsecond line",
    pages: 3,
    pagesRead: 3,
  });
  const little = await readPdf(file, { mostChars: 20 });
  expect(little).toEqual({ text: "[Page 1]\nHello from ", pages: 3, pagesRead: 1 });
});

it("says what is wrong with one that cannot be read; a page without text has none", async () => {
  await expect(readPdf(Buffer.from("%PDF-1.4\nnothing"))).rejects.toThrow(/could not be read/);
  expect(await readPdf(pdf(""))).toEqual({ text: "", pages: 1, pagesRead: 1 });
});
