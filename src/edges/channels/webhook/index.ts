export { type WebhookConfig, webhookConfig } from "./config.ts";
export { sign, WebhookChannel, webhookChannels } from "./webhook.ts";
