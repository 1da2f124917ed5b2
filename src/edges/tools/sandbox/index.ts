/** The sandbox: one port, several backends, and the choice between them. */
export { createBubblewrap } from "./bubblewrap.ts";
export { agentSandboxConfig, type SandboxConfig, sandboxConfig, sandboxFor } from "./config.ts";
export {
  type Confinement,
  type ConfinementParts,
  createConfinement,
  createNone,
  makeRules,
  type SandboxRoom,
} from "./confinement.ts";
export { type ContainerOptions, createContainer } from "./container.ts";
export { type Homes, safeBind, safeNetwork, safeRoot, safeWorkspace } from "./danger.ts";
export { hasPrlimit, type SandboxLimits, withLimits } from "./limits.ts";
export { named } from "./named.ts";
export type { Confined, Rules, Sandbox, SandboxName, Wrapped } from "./port.ts";
export { type Deed, permits, within } from "./rules.ts";
export { createSsh, type SshOptions } from "./ssh.ts";
