export { type InboxRow, take, takenBy, waitingIn } from "./store.ts";
export { type Pending, taken } from "./take.ts";
