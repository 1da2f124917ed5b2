/** The runs room: turns that another runtime carries out. */
export { Runs } from "./runs.ts";
export { endOpenRuns, eraseRuns, forgetTokens } from "./store.ts";
