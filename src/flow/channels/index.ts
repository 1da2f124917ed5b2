export { type AccountStatus, Accounts } from "./accounts.ts";
export { Acknowledgements } from "./acknowledge.ts";
export { makeButtons } from "./buttons.ts";
export { forgetAccount } from "./forget.ts";
export { Intake } from "./intake.ts";
export { Pairings } from "./pairing.ts";
export { forgetPositions } from "./store.ts";
export { TRIAL } from "./words.ts";
