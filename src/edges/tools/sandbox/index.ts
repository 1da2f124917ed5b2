/** The sandbox: one port, several backends, and the choice between them. */
export { createBubblewrap } from "./bubblewrap.ts";
export {
  agentSandboxConfig,
  hasNetwork,
  readNetwork,
  type SandboxConfig,
  sandboxConfig,
  sandboxFor,
} from "./config.ts";
export { type Confinement, createConfinement, createNone, makeRules, type SandboxRoom } from "./confinement.ts";
export { createContainer } from "./container.ts";
export { safeBind, safeNetwork, safeRoot, safeWorkspace, whyNoRead, whyNoRoot } from "./danger.ts";
export { hasPrlimit, withLimits } from "./limits.ts";
export { named } from "./named.ts";
export type { Rules, Sandbox, Wrapped } from "./port.ts";
export { type Deed, permits, within } from "./rules.ts";
export { createSsh } from "./ssh.ts";
