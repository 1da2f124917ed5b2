/**
 * What tests use of the fake WhatsApp Cloud API.
 *
 * Documentation: see server.ts
 */
export { startWhatsAppFake, type WhatsAppFake, type WhatsAppShown } from "./server.ts";
