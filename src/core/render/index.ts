export { boundedChunks, MOST_CHARACTERS, MOST_PARTS } from "./bounded.ts";
export { type ChunkOptions, chunks, LEAST_LIMIT, length, type RenderOptions, render } from "./chunks.ts";
export { DIALECTS, type DialectName, type Part, type Style, type Unit } from "./dialect.ts";
export { ircRoom } from "./dialects/lines.ts";
export { type Shows, shows } from "./format.ts";
export { type GrowingText, growingText } from "./growing.ts";
export { parse } from "./parse.ts";
export { type Block, EM, type Inline, type ListItem, plainText, STRIKE, STRONG, type Tree } from "./tree.ts";
