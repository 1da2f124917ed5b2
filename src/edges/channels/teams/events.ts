/** From an activity to what the door understands. Pure. */
import type { PlatformEvent } from "../../../core/contracts/index.ts";
import { asList, asObject, asText } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";

const REACTIONS: Record<string, string> = { like: "👍", heart: "❤️", no: "👎", checkmark: "✅" };

/** In a channel the conversation's id also names the thread. */
export function toChat(conversation: string): { id: string; thread?: string } {
  const [id = "", thread] = conversation.split(";messageid=");
  return thread ? { id, thread } : { id };
}

export function toConversation(chat: string, thread: string | undefined): string {
  return thread ? `${chat};messageid=${thread}` : chat;
}

/** Kinds that a person in a conversation causes. */
const SPOKEN = new Set(["message", "messageUpdate", "messageDelete", "messageReaction", "invoke"]);

export function toEvents(activity: Record<string, unknown>): PlatformEvent[] | "unreadable" {
  const [from, conversation, recipient] = [activity.from, activity.conversation, activity.recipient].map(asObject);
  // The directory's id belongs to a person for good; the other id is only this bot's. `name` is neither (CH-01).
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
  switch (activity.type) {
    case "messageReaction":
      return replied ? toReactions(base, replied, activity) : [];
    case "messageDelete":
      return [{ ...base, id: `${id}:deleted`, kind: "delete", message: id }];
    case "message":
    case "messageUpdate":
      break;
    default:
      return [];
  }
  const { text, isNamed } = readText(activity, recipient!.id);
  const addressed = isDirect || isNamed;
  if (activity.type === "messageUpdate") {
    const stamp = asText(activity.timestamp) ?? "";
    return [{ ...base, id: `${id}:${stamp}`, kind: "edit", message: id, text, addressed }];
  }
  return text ? [{ ...base, kind: "message", text, addressed }] : [];
}

type Base = Pick<PlatformEvent, "id" | "chat" | "sender">;

function toReactions(base: Base, message: string, activity: Record<string, unknown>): PlatformEvent[] {
  const toEvents = (list: unknown, removed: boolean): PlatformEvent[] =>
    asList(list).map((raw, i) => {
      const type = asText(asObject(raw).type) ?? "";
      const id = `${base.id}:${removed ? "-" : "+"}${i}`;
      return { ...base, id, kind: "reaction", message, emoji: REACTIONS[type] ?? type, ...truthy({ removed }) };
    });
  return [...toEvents(activity.reactionsAdded, false), ...toEvents(activity.reactionsRemoved, true)];
}

/** The bot's own name is taken out; other mentions stay as "@name". */
function readText(activity: Record<string, unknown>, me: unknown): { text: string; isNamed: boolean } {
  const mentions = asList(activity.entities)
    .map(asObject)
    .filter((one) => one.type === "mention");
  const mine = mentions.filter((one) => asObject(one.mentioned).id === me);
  let text = asText(activity.text) ?? "";
  for (const one of mine) text = text.replace(asText(one.text) ?? "", "");
  text = text
    .replace(/<at>([^<]*)<\/at>/g, "@$1")
    .replace(/&nbsp;/g, " ")
    .trim();
  return { text, isNamed: mine.length > 0 };
}
