export { type Admitted, type Commands, type Inbox, type InboxParts, makeInbox, type TurnBody } from "./admit.ts";
export { type InboxConfig, inboxConfig } from "./config.ts";
export { type Placement, place } from "./routing.ts";
export { openFrom, wasAdmitted } from "./store.ts";
