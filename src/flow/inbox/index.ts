export { type Inbox, makeInbox, ownLine, stampFor } from "./admit.ts";
export { makeChatMessage } from "./chat-message.ts";
export { inboxConfig } from "./config.ts";
export { stopReplaced } from "./replace.ts";
export { admittedText, authorityIn, eraseInbox } from "./store.ts";
export { makeTurnIntake, previewWaiting } from "./waiting/intake.ts";
export { takenBy, waitingIn, withdrawAll } from "./waiting/store.ts";
export { withdraw } from "./waiting/withdraw.ts";
