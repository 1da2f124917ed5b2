/**
 * The text of a PDF, as source for a parser's process. Words stand in the order of the file; a new line where the file says so, or
 * where the height on the page changes.
 */
export const PDF_SOURCE = String.raw`
async function parse(bytes, { mostChars, parser }) {
  const { getDocumentProxy } = await import(parser);
  const pdf = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0, isEvalSupported: false });
  const { info } = await pdf.getMetadata().catch(() => ({ info: {} }));
  let text = "";
  let pagesRead = 0;
  while (pagesRead < pdf.numPages && text.length < mostChars) {
    const page = await pdf.getPage(++pagesRead);
    const { items } = await page.getTextContent();
    let said = "";
    let height;
    for (const item of items) {
      if (typeof item.str !== "string") continue;
      const at = item.transform[5];
      if (height !== undefined && Math.abs(at - height) > 1 && said && !said.endsWith("\n")) said += "\n";
      said += item.str + (item.hasEOL ? "\n" : "");
      if (item.str.trim()) height = at;
    }
    said = said.replace(/[ \t]+\n/g, "\n").replace(/\n{3,}/g, "\n\n").trim();
    if (said) text += (text ? "\n\n" : "") + "[Page " + pagesRead + "]\n" + said;
    page.cleanup();
  }
  const title = typeof info?.Title === "string" ? info.Title.trim().slice(0, 1000) : "";
  return { text: text.slice(0, mostChars), pages: pdf.numPages, pagesRead, ...(title ? { title } : {}) };
}
`;
