/** Paths of the file tools: from what a model wrote to an open file inside a root, and nowhere else. */
export {
  type Dir,
  Inside,
  notFound,
  type OpenOptions,
  openInside,
  openRegular,
  translate,
  walkTree,
  withInside,
  wrongInput,
} from "../../../core/files/index.ts";
export { createAgentFiles } from "./agent-files.ts";
export { didYouMean, nearNames, orNear } from "./near.ts";
export { asRead, isBeyond, rooted, rootedForReading } from "./rooted.ts";
