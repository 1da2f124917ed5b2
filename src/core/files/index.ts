/**
 * Files that are not ours alone: workspaces, imports, folders that people edit. Every way to them goes over this room, one
 * open directory at a time, never through a link that leads out, never waiting for a pipe, never without a bound.
 */
export {
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
export type { Dir } from "./dir.ts";
export { notFound, translate, wrongInput } from "./failure.ts";
export { Inside, type OpenOptions, openInside, openRegular, withInside } from "./inside.ts";
export { makeFolder, makeLink, type NoFile, readNoFile, removeNoFile } from "./links.ts";
export { isMarkedAlike, markFile, markFolder, markLink, readMark, readMarkedFile, readMarkedSize } from "./mark.ts";
export { openToOthers, PRIVATE_FILES } from "./private.ts";
export { isProgram } from "./program.ts";
export { type TreeEntry, walkTree } from "./tree.ts";
