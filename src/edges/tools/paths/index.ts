/** Paths of the file tools: from what a model wrote to an open file inside a root, and nowhere else. */

export { createAgentFiles, type Standing } from "./agent-files.ts";
export type { Dir, Entry, How } from "./dir.ts";
export { notFound, outside, translate, wrongInput } from "./failure.ts";
export { Inside, type OpenOptions, openInside, openRegular, withInside } from "./inside.ts";
export { type TreeEntry, type TreeOptions, walkTree } from "./tree.ts";
