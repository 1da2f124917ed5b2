/**
 * What tests use of the fake WhatsApp Web.
 *
 * Documentation: see server.ts
 */
export { type BaileysFake, MENTION, startBaileysFake, type WebShown } from "./server.ts";
