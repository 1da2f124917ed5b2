export { boundedChunks } from "./bounded.ts";
export { chunks, length, render } from "./chunks.ts";
export { DIALECTS, type DialectName, type Part } from "./dialect.ts";
export { ircRoom } from "./dialects/lines.ts";
export { shows } from "./format.ts";
export { growingText } from "./growing.ts";
export { parse } from "./parse.ts";
export { type Block, EM, type Inline, type ListItem, plainText, STRIKE, STRONG } from "./tree.ts";
