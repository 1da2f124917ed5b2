export {
  type Admitted,
  type Commands,
  type Inbox,
  type InboxParts,
  makeInbox,
  ownLine,
  stampFor,
  type TurnBody,
} from "./admit.ts";
export { makeChatMessage } from "./chat-message.ts";
export { type InboxConfig, inboxConfig } from "./config.ts";
export { stopReplaced } from "./replace.ts";
export { type Placement, place } from "./routing.ts";
export { admittedText, authorityIn, eraseInbox } from "./store.ts";
export { makeTurnIntake } from "./waiting/intake.ts";
export { type InboxRow, take, takenBy, waitingIn } from "./waiting/store.ts";
export { taken } from "./waiting/take.ts";
export { withdraw } from "./waiting/withdraw.ts";
