/** What the method handlers are made from. Each file picks what it needs, and names the rooms it asks. */

import type { Models } from "../../core/contracts/index.ts";
import { AppError } from "../../core/domain/index.ts";
import type { Clock, IdMaker } from "../../core/kit/index.ts";
import type { Handlers } from "../../faces/gateway/index.ts";
import type { LaresConfig } from "../config.ts";
import type { Instance } from "../instance.ts";

export interface MethodParts {
  home: string;
  version: string;
  config: LaresConfig;
  models: Models;
  clock: Clock;
  ids: IdMaker;
  // Functions, because the gateway isn't listening yet when the handlers are built.
  url: () => string;
  uptimeMs: () => number;
  problems: () => string[];
  /** Hides secrets, as the log does. */
  redact: (text: string) => string;
}

/** The handlers of one noun of the protocol. */
export type Methods<Noun extends string> = Pick<Handlers, `${Noun}.${string}` & keyof Handlers>;

/** The rooms these handlers ask, of the instance that runs now. Asking throws while there is none. */
export interface Asks<Room extends keyof Instance> {
  instance: () => Pick<Instance, Room>;
}

/** In every handler the same words for the same mistake. */
export function notFound(what: string, id: string): AppError {
  return new AppError("NOT_FOUND", { message: `There is no ${what} "${id}".` });
}
