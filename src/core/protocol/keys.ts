/** Keys that a page makes or reads. It may import the protocol and nothing below it. */
export {
  messageIds,
  readInputId,
  readJobSource,
  readReplyId,
  readScope,
  readSessionSource,
  sessionKeys,
} from "../domain/keys.ts";
export { readPerson } from "../domain/origin-keys.ts";
