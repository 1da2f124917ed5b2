import type { Confine } from "../edges/parsers/index.ts";
import { hasPrlimit, withLimits } from "../edges/tools/index.ts";

/** A parser under the same kernel limits as commands: it writes no files and starts nothing. */
export const confineParser: Confine = (argv, memoryMb) =>
  hasPrlimit() ? withLimits(argv, { memoryMb, processes: 1, tmpMb: 0, fileMb: 0 }, { apart: false }) : undefined;
