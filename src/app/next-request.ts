/** What the model would read now: the turn's own request, rendered by the models and not sent. */
import type { Models, Reads, RenderedRequest, RequestPart } from "../core/contracts/index.ts";
import { type AgentId, asId, type ReplyRoute, type SessionKey, type TurnId } from "../core/domain/index.ts";
import type { Clock } from "../core/kit/index.ts";
import type { Attachments } from "../flow/attachments/index.ts";
import { type Inbox, type InboxRow, taken, waitingIn } from "../flow/inbox/index.ts";
import { buildRequest, listDoors, type TurnParts } from "../flow/turns/index.ts";
import { type Contexts, estimateTokens, textTokens } from "../mind/context/index.ts";

export interface NextRequestParts {
  records: Reads;
  contexts: Contexts;
  models: Models;
  inbox: Pick<Inbox, "envelope">;
  attachments: Pick<Attachments, "withTexts">;
  clock: Clock;
  agentModel: TurnParts["agentModel"];
}

export interface ShownPart extends RequestPart {
  tokens: number;
  sent: boolean;
  kept: boolean;
}

export interface NextRequest extends Omit<RenderedRequest, "parts"> {
  full: boolean;
  cache: "marks" | "automatic" | "none";
  parts: ShownPart[];
}

export async function nextRequest(
  parts: NextRequestParts,
  of: { session: SessionKey; agent: AgentId; text?: string | undefined },
): Promise<NextRequest> {
  const { session, agent, text } = of;
  const { request, full } = await buildRequest(
    { history: parts.contexts, agentModel: parts.agentModel },
    {
      session,
      agent,
      model: null,
      said: [...(await waiting(parts, session)), ...(await spoken(parts, session, text))],
    },
  );
  const rendered = await parts.models.render(request);
  const cache = rendered.api === "anthropic" ? "marks" : rendered.api === "practice" ? "none" : "automatic";
  const view = await parts.contexts.view(session, agent, rendered.model);
  const wasAsked = view.counted > 0 && view.countedBy === rendered.model;
  return { ...rendered, full, cache, parts: withCache(rendered.parts, cache, wasAsked) };
}

/** What the next turn takes from the inbox. */
async function waiting({ records, attachments }: NextRequestParts, session: SessionKey): Promise<InboxRow[]> {
  const rows = await waitingIn(records, session);
  const [first] = rows;
  return first ? attachments.withTexts(taken(rows, { turn: first.turn, call: 0, route: first.route })) : [];
}

/** A message by whoever spoke last here, at the place where they did. */
async function spoken(parts: NextRequestParts, session: SessionKey, text: string | undefined): Promise<InboxRow[]> {
  if (text === undefined) return [];
  const last = (await listDoors(parts.records, session)).findLast((door) => door.speaker !== "event");
  const { channel, account, chat, isGroup } = last ?? { channel: "ws", account: "owner", chat: "", isGroup: false };
  const authority = last?.speaker && last.speaker !== "event" ? last.speaker : "owner";
  const route: ReplyRoute = { channel, account, chat };
  const person = last?.person ?? "owner";
  const sender = { id: person, ...(last?.name ? { name: last.name } : {}) };
  const said = { route, sender, isGroup, authority, origin: "person" as const };
  const envelope = await parts.inbox.envelope(said, { session, person: asId(person) });
  return [
    {
      ...{ turn: asId<TurnId>("next"), mode: "steer", route: JSON.stringify(route), person, text, authority },
      ...{ outside: 0, at: parts.clock.now(), envelope, label: null, attached: [] },
    },
  ];
}

/**
 * The window only grows at its end, so the last request ended where the newest answer begins. A mark covers everything before it;
 * a provider that decides by itself keeps whole beginnings.
 */
function withCache(parts: readonly RequestPart[], cache: NextRequest["cache"], wasAsked: boolean): ShownPart[] {
  const answered = wasAsked ? (parts.findLast(isAnswer)?.message ?? 0) : 0;
  const lastMark = cache === "automatic" ? parts.length : parts.findLastIndex((part) => part.mark);
  return parts.map((part, i) => ({
    ...part,
    tokens: part.kind === "picture" ? pictureTokens() : textTokens(part.text),
    sent: answered > 0 && (part.message ?? 0) < answered,
    kept: i <= lastMark,
  }));
}

function isAnswer({ kind }: RequestPart): boolean {
  return kind === "answer" || kind === "call" || kind === "thinking";
}

function pictureTokens(): number {
  return estimateTokens([{ type: "image", attachment: "", mediaType: "", name: "" }]);
}
