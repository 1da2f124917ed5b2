/** What a webhook account needs to know: nothing is remembered between two requests. */
import type { AdapterParts } from "../account.ts";
import type { WebhookAccount } from "./config.ts";

export type WebhookState = Pick<AdapterParts<WebhookAccount>, "config" | "clock">;
