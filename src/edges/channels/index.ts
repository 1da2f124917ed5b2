export { sign, type WebhookChannel, type WebhookConfig, webhookChannels, webhookConfig } from "./webhook/index.ts";
