export { type PdfText, pdfPages, readPdf } from "./read.ts";
