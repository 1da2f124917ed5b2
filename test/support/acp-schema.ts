/** ACP's own schema, as published with its SDK, in a form that checks values. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";

type JsonSchema = Exclude<Parameters<typeof z.fromJSONSchema>[0], boolean>;
const file = fileURLToPath(import.meta.resolve("@agentclientprotocol/sdk/schema/v1/schema.json"));
const all = JSON.parse(readFileSync(file, "utf8")) as Omit<JsonSchema, "$ref">;
const made = new Map<string, z.ZodType>();

/** Why a value isn't what the protocol calls by this name; nothing when it is. */
export function notAcp(name: string, value: unknown): string | undefined {
  const known = made.get(name);
  const schema = known ?? z.fromJSONSchema({ ...all, anyOf: undefined, $ref: `#/$defs/${name}` } as JsonSchema);
  made.set(name, schema);
  const read = schema.safeParse(value);
  return read.success ? undefined : `${name}: ${JSON.stringify(value)}: ${read.error.message}`;
}

/** What the agent's answers and its own messages are called there. */
export const ACP_NAMES: Readonly<Record<string, string>> = {
  initialize: "InitializeResponse",
  authenticate: "AuthenticateResponse",
  "session/new": "NewSessionResponse",
  "session/load": "LoadSessionResponse",
  "session/resume": "ResumeSessionResponse",
  "session/list": "ListSessionsResponse",
  "session/close": "CloseSessionResponse",
  "session/delete": "DeleteSessionResponse",
  "session/prompt": "PromptResponse",
  "session/set_mode": "SetSessionModeResponse",
  "session/set_config_option": "SetSessionConfigOptionResponse",
};
export const ACP_ASKED: Readonly<Record<string, string>> = {
  "session/update": "SessionNotification",
  "session/request_permission": "RequestPermissionRequest",
  "$/cancel_request": "CancelRequestNotification",
};
