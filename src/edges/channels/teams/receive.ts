/** Requests of the Bot Framework: each is an activity with a signed token. */
import type { ChannelAnswer, ChannelHost, ChannelRequest } from "../../../core/contracts/index.ts";
import { AppError, asObject, asText } from "../../../core/domain/index.ts";
import { parseBody, readRaw } from "../incoming.ts";
import { toChat, toEvents } from "./events.ts";
import { learnService, type TeamsState } from "./state.ts";

export function knock({ method, headers }: Omit<ChannelRequest, "body">): void {
  if (method !== "POST" || /^Bearer\s+\S/i.test(headers.authorization ?? "")) return;
  throw new AppError("UNAUTHORIZED", { message: "The Bot Framework's token is missing." });
}

export async function receive(state: TeamsState, request: ChannelRequest, door: ChannelHost): Promise<ChannelAnswer> {
  if (request.method !== "POST") return { status: 405 };
  const activity = asObject(parseBody(request.body));
  const service = await proveService(state, activity, request.headers.authorization);
  const { id: chat } = toChat(asText(asObject(activity.conversation).id) ?? "");
  await learnService(state, door, { chat, service });
  const raw = { kind: asText(activity.type) ?? "activity", id: asText(activity.id), value: activity };
  const events = readRaw(door, raw, () => toEvents(activity)) ?? [];
  const heard = events.length ? await door.hear(events) : [];
  if (activity.type !== "invoke") return { status: 200, body: {} };
  const value = heard[0]?.say ?? "Done.";
  return { status: 200, body: { statusCode: 200, type: "application/vnd.microsoft.activity.message", value } };
}

/** Where answers to this activity go. A forged address would get the bot's token, so it must be signed and on the list. */
async function proveService(
  { config, tokens }: TeamsState,
  activity: Record<string, unknown>,
  authorization: string | undefined,
): Promise<string> {
  const claims = await tokens.claims(authorization, asText(activity.channelId) ?? "");
  const service = asText(activity.serviceUrl) ?? "";
  const signedFor = asText(claims.serviceurl) ?? asText(claims.serviceUrl);
  if (signedFor === service && isListed(service, config.services)) return service;
  throw new AppError("FORBIDDEN", {
    message: "The address for answers isn't the one that was signed, or isn't in the account's list of services.",
  });
}

function isListed(service: string, list: readonly string[]): boolean {
  return list.some((one) => {
    try {
      const [given, listed] = [new URL(service), new URL(one)];
      return given.origin === listed.origin && given.pathname.startsWith(listed.pathname);
    } catch {
      return false;
    }
  });
}
