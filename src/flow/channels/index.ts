export { type AccountSpec, type AccountState, type AccountStatus, Accounts } from "./accounts.ts";
export { Acknowledgements } from "./acknowledge.ts";
export { makeButtons } from "./buttons.ts";
export { forgetAccount } from "./forget.ts";
export { Intake, type IntakeParts } from "./intake.ts";
export { MOST_PENDING, Pairings } from "./pairing.ts";
export { type Grant, type Standing, standing } from "./standing.ts";
export type { AccountKey, ButtonRow } from "./store.ts";
export { TRIAL } from "./words.ts";
