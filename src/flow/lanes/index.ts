export { type InboxRow, take, takenBy, waitingIn, waitingUnder, withdraw } from "./store.ts";
export { isInterrupted, type Pending, taken } from "./take.ts";
