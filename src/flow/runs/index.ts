/** The runs room: turns that another runtime carries out. */
export { Runs } from "./runs.ts";
export { eraseRuns, forgetTokens } from "./store.ts";
