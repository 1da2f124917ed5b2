export { Attachments, MOST_BYTES } from "./attachments.ts";
export { eraseAttachments } from "./store.ts";
