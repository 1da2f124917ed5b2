/** The runtimes room: other people's agents, driven as our own. A new one is a row in `drivers.ts`. */
export { makeAcpAdapter } from "./acp/adapter.ts";
export { ACP_PROFILES, type AcpProfile } from "./acp/profile.ts";
export {
  agentRuntimeConfig,
  listUsers,
  makeRuntimeChoice,
  makeRuntimeFinder,
  runtimeAdvice,
  runtimesConfig,
} from "./config.ts";
export { DRIVERS } from "./drivers.ts";
export { agentHome } from "./folders.ts";
export type { RuntimeHost } from "./host.ts";
export { loadHost } from "./load.ts";
export { findProblems, viewLogin, viewRuntime } from "./overview.ts";
export { type PlannedRun, plan, type RunTask } from "./plan/plan.ts";
export { withProofs } from "./plan/proofs.ts";
export { ModelProxy } from "./proxy/door.ts";
export { RunQueue } from "./run-queue.ts";
export { listTrials } from "./trial/store.ts";
