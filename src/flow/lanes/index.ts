export { type InboxRow, take, takenBy, waitingIn } from "./store.ts";
export { isInterrupted, type Pending, taken } from "./take.ts";
