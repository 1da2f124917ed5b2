export { startWhatsAppFake, type WhatsAppFake, type WhatsAppShown } from "./server.ts";
