/** What leaves for Teams: messages, and cards for buttons. One call each, never repeated here (CHANNEL-2). */
import type { Button, Outgoing, Placed } from "../../../core/contracts/index.ts";
import { asText, type ReplyRoute } from "../../../core/domain/index.ts";
import { failedIfUncertain, refused } from "../sending.ts";
import type { TeamsCall } from "./api.ts";
import { toConversation } from "./events.ts";
import type { TeamsState } from "./state.ts";

export async function send(
  state: TeamsState,
  message: Outgoing,
  signal: AbortSignal,
): Promise<{ platformId: string | null }> {
  const answer = await call(state, message.route, { method: "POST", path: "", json: toActivity(message) }, signal);
  return { platformId: asText(answer.id) ?? null };
}

export async function edit(state: TeamsState, at: Placed, message: Outgoing, signal: AbortSignal): Promise<void> {
  const change = { method: "PUT", path: toPath(at), json: toActivity(message) } as const;
  await call(state, at.route, change, signal).catch(failedIfUncertain);
}

export async function remove(state: TeamsState, at: Placed, signal: AbortSignal): Promise<void> {
  await call(state, at.route, { method: "DELETE", path: toPath(at) }, signal).catch(failedIfUncertain);
}

export async function typing(state: TeamsState, route: ReplyRoute, signal: AbortSignal): Promise<void> {
  await call(state, route, { method: "POST", path: "", json: { type: "typing" } }, signal);
}

function call(
  { api, services, lastService }: TeamsState,
  { chat, thread }: ReplyRoute,
  what: Omit<TeamsCall, "service" | "conversation">,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const service = services.get(chat) ?? lastService;
  if (!service) {
    throw refused("Nobody has written through this account yet, so the address for answers isn't known.", "later");
  }
  return api.call({ ...what, service, conversation: toConversation(chat, thread) }, signal);
}

function toPath({ platformId }: Placed): string {
  return `/${encodeURIComponent(platformId)}`;
}

const STYLES: Readonly<Record<Button["kind"], { style?: string }>> = {
  yes: { style: "positive" },
  no: { style: "destructive" },
  plain: {},
};

function toActivity(message: Outgoing): object {
  const text = message.html ?? message.text;
  if (!message.buttons?.length) return { type: "message", text, textFormat: message.html ? "xml" : "plain" };
  const actions = message.buttons.map(({ id, label, kind }) => ({
    type: "Action.Submit",
    title: label,
    ...STYLES[kind],
    // Teams sends it back as it is, with who pressed. It says nothing about the question.
    data: { lares: id },
  }));
  const content = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    // A TextRun is shown as it is. A TextBlock would find formatting and links in the text that is asked about.
    body: message.text
      .split("\n")
      .map((line) => ({ type: "RichTextBlock", inlines: [{ type: "TextRun", text: line || " " }] })),
    actions,
  };
  return { type: "message", attachments: [{ contentType: "application/vnd.microsoft.card.adaptive", content }] };
}
