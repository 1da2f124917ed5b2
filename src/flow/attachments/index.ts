export {
  type AttachmentAsker,
  Attachments,
  type AttachmentView,
  type HeldAttachments,
  MOST_BYTES,
} from "./attachments.ts";
export { eraseAttachments } from "./store.ts";
