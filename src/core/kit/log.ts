import type { JsonObject } from "../domain/json.ts";

/** The logger interface. The real one is built in app/ from ground/observe. */
export interface Log {
  debug(what: string, facts?: JsonObject): void;
  info(what: string, facts?: JsonObject): void;
  warn(what: string, facts?: JsonObject): void;
  error(what: string, facts?: JsonObject): void;
  child(room: string): Log;
}

export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLog,
};
