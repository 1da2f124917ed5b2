export { Granting } from "./granting.ts";
export { grantsConfig, makeGrants, makeResolver } from "./grants.ts";
export type { Keyring } from "./keyring.ts";
export { scrub } from "./scrub.ts";
export { HIDDEN, Secret } from "./secret.ts";
export { openVault, Vault } from "./vault.ts";
