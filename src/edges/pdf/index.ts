export { type PdfText, readPdf } from "./read.ts";
