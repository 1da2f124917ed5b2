/** What the model would read now: the turn's own request, rendered by the models and not sent. */
import type { Models, Reads, RenderedRequest, RequestPart } from "../../core/contracts/index.ts";
import {
  type AgentId,
  type Authority,
  asId,
  type PersonId,
  type ReplyRoute,
  type SessionKey,
  type TurnId,
} from "../../core/domain/index.ts";
import type { Clock } from "../../core/kit/index.ts";
import { listDoors } from "./doors/store.ts";
import type { IntakeMessage, TurnParts } from "./ports.ts";
import { buildRequest } from "./request.ts";

export interface NextRequestParts {
  records: Reads;
  history: TurnParts["history"];
  /** What the session's model has read so far. */
  view(
    session: SessionKey,
    agent: AgentId,
    model: string,
  ): Promise<{ counted: number; countedBy?: string | null | undefined }>;
  models: Pick<Models, "render">;
  /** What the next turn takes from the inbox. */
  waiting(session: SessionKey): Promise<readonly IntakeMessage[]>;
  /** The line before a message, with time and sender. */
  envelope(
    said: {
      route: ReplyRoute;
      sender: { id: string; name?: string };
      isGroup: boolean;
      authority: Authority;
      origin: "person";
    },
    at: { session: SessionKey; person: PersonId },
  ): Promise<string | null>;
  tokens: { ofText(text: string): number; ofPicture(): number };
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
    { history: parts.history, agentModel: parts.agentModel },
    {
      session,
      agent,
      model: null,
      said: [...(await parts.waiting(session)), ...(await spoken(parts, session, text))],
    },
  );
  const rendered = await parts.models.render(request);
  const cache = CACHE[rendered.api] ?? "automatic";
  const view = await parts.view(session, agent, rendered.model);
  const wasAsked = view.counted > 0 && view.countedBy === rendered.model;
  return { ...rendered, full, cache, parts: withCache(parts, rendered.parts, cache, wasAsked) };
}

/** How an API's prompt cache is used; where it isn't listed, the provider caches by itself. */
const CACHE: Readonly<Record<string, "marks" | "none">> = { anthropic: "marks", practice: "none" };

/** A message by the last speaker here, in the place where they spoke. */
async function spoken(
  parts: NextRequestParts,
  session: SessionKey,
  text: string | undefined,
): Promise<IntakeMessage[]> {
  if (text === undefined) return [];
  const last = (await listDoors(parts.records, session)).findLast((door) => door.speaker !== "event");
  const { channel, account, chat, isGroup } = last ?? { channel: "ws", account: "owner", chat: "", isGroup: false };
  const authority = last?.speaker && last.speaker !== "event" ? last.speaker : "owner";
  const route: ReplyRoute = { channel, account, chat };
  const person = last?.person ?? "owner";
  const sender = { id: person, ...(last?.name ? { name: last.name } : {}) };
  const said = { route, sender, isGroup, authority, origin: "person" as const };
  const envelope = await parts.envelope(said, { session, person: asId(person) });
  return [
    {
      turn: asId<TurnId>("next"),
      person,
      text,
      authority,
      outside: 0,
      at: parts.clock.now(),
      envelope,
      label: null,
      attached: [],
    },
  ];
}

/**
 * The window only grows at its end, so the last request ended where the newest answer begins. A mark covers everything before it;
 * a provider that decides by itself keeps whole beginnings.
 */
function withCache(
  { tokens }: NextRequestParts,
  parts: readonly RequestPart[],
  cache: NextRequest["cache"],
  wasAsked: boolean,
): ShownPart[] {
  const answered = wasAsked ? (parts.findLast(isAnswer)?.message ?? 0) : 0;
  const lastMark = cache === "automatic" ? parts.length : parts.findLastIndex((part) => part.mark);
  return parts.map((part, i) => ({
    ...part,
    tokens: part.kind === "picture" ? tokens.ofPicture() : tokens.ofText(part.text),
    sent: answered > 0 && (part.message ?? 0) < answered,
    kept: i <= lastMark,
  }));
}

function isAnswer({ kind }: RequestPart): boolean {
  return kind === "answer" || kind === "call" || kind === "thinking";
}
