/** From an activity to what the door understands. Pure. */
import type { PlatformEvent } from "../../../core/contracts/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import { asList, asObject, asText } from "../api.ts";

const REACTIONS: Record<string, string> = { like: "👍", heart: "❤️", no: "👎", checkmark: "✅" };

/** In a channel the conversation's id names the thread, too. */
export function toChat(conversation: string): { id: string; thread?: string } {
  const [id = "", thread] = conversation.split(";messageid=");
  return thread ? { id, thread } : { id };
}

export function toConversation(chat: string, thread: string | undefined): string {
  return thread ? `${chat};messageid=${thread}` : chat;
}

/** Kinds that somebody in a conversation causes. */
const SPOKEN = new Set(["message", "messageUpdate", "messageDelete", "messageReaction", "invoke"]);

export function toEvents(activity: Record<string, unknown>): PlatformEvent[] | "unreadable" {
  const [from, conversation, recipient] = [activity.from, activity.conversation, activity.recipient].map(asObject);
  // The directory's id is a person's for good; the other one is this bot's name for them (CH-01: `name` is neither).
  const sender = asText(from!.aadObjectId) ?? asText(from!.id);
  const [id, chat] = [asText(activity.id), asText(conversation!.id)];
  if (!sender || !id || !chat) return SPOKEN.has(String(activity.type)) ? "unreadable" : [];
  const name = asText(from!.name);
  const isDirect = conversation!.conversationType === "personal";
  const base = {
    id,
    chat: { ...toChat(chat), kind: isDirect ? ("direct" as const) : ("group" as const) },
    sender: { id: sender, ...truthy({ name }), ...(asObject(from).role === "bot" ? { isBot: true } : {}) },
  };
  const replied = asText(activity.replyToId);
  const button = asText(asObject(activity.value).lares);
  if (button && (activity.type === "message" || activity.type === "invoke"))
    return [{ ...base, kind: "button", button, ...truthy({ message: replied }) }];
  if (activity.type === "messageReaction" && replied) {
    const of = (list: unknown, removed: boolean): PlatformEvent[] =>
      asList(list).map((raw, i) => {
        const type = asText(asObject(raw).type) ?? "";
        const emoji = REACTIONS[type] ?? type;
        return {
          ...base,
          id: `${id}:${removed ? "-" : "+"}${i}`,
          kind: "reaction",
          message: replied,
          emoji,
          ...truthy({ removed }),
        };
      });
    return [...of(activity.reactionsAdded, false), ...of(activity.reactionsRemoved, true)];
  }
  if (activity.type === "messageDelete") return [{ ...base, id: `${id}:deleted`, kind: "delete", message: id }];
  if (activity.type !== "message" && activity.type !== "messageUpdate") return [];
  const mentions = asList(activity.entities)
    .map(asObject)
    .filter((one) => one.type === "mention");
  const mine = mentions.filter((one) => asObject(one.mentioned).id === recipient!.id);
  let text = asText(activity.text) ?? "";
  for (const one of mine) text = text.replace(asText(one.text) ?? "", "");
  text = text
    .replace(/<at>([^<]*)<\/at>/g, "@$1")
    .replace(/&nbsp;/g, " ")
    .trim();
  const addressed = isDirect || mine.length > 0;
  if (activity.type === "messageUpdate") {
    const stamp = asText(activity.timestamp) ?? "";
    return [{ ...base, id: `${id}:${stamp}`, kind: "edit", message: id, text, addressed }];
  }
  return text ? [{ ...base, kind: "message", text, addressed }] : [];
}
