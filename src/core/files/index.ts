/**
 * Files that are not ours alone: workspaces, imports, folders that people edit. Every way to them goes over this room, one
 * open directory at a time, never through a link that leads out, never waiting for a pipe, never without a bound.
 */
export {
  type Below,
  copyBelow,
  copyTree,
  type FileState,
  filesBelow,
  kindBelow,
  listBelow,
  readBelow,
  removeTree,
  renameBelow,
  type TreeFile,
  textBelow,
  writeBelow,
} from "./below.ts";
export type { Dir, DirEntry, How } from "./dir.ts";
export { notFound, outside, translate, wrongInput } from "./failure.ts";
export { Inside, type OpenOptions, openInside, openRegular, withInside } from "./inside.ts";
export { markFile, readMarkedSize } from "./mark.ts";
export { type TreeEntry, type TreeOptions, walkTree } from "./tree.ts";
