/** Handlers of `logs.*`. */
import { defined } from "../../core/kit/index.ts";
import type { Result } from "../../core/protocol/index.ts";
import type { Logbook } from "../../ground/observe/index.ts";
import type { Methods } from "./parts.ts";

export function makeLogMethods({ log }: { log: Logbook }): Methods<"logs"> {
  // From the lines in memory, so it also works while the disk is full.
  return { "logs.tail": async (p) => ({ lines: log.tail(defined(p)) as Result<"logs.tail">["lines"] }) };
}
