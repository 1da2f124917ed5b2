/**
 * Buttons: written with a post, pressed by a person, reported by the Mattermost server, which calls us with what we wrote.
 * The server doesn't sign its calls, so each button carries a proof that only we can have made, bound to its chat.
 */
import { createHmac } from "node:crypto";
import type { ChannelAnswer, ChannelHost, ChannelRequest, Outgoing } from "../../../core/contracts/index.ts";
import { AppError, asJson, asObject, asText, type JsonObject } from "../../../core/domain/index.ts";
import { isSameSecret, trimEndCharacters } from "../../../core/kit/index.ts";
import { type MattermostState, readKind } from "./state.ts";

const STYLES: Readonly<Record<string, string>> = { yes: "good", no: "danger" };

export function makeButtons({ account, config }: MattermostState, { buttons, route }: Outgoing): JsonObject[] {
  return (buttons ?? []).map(({ id, label, kind }) => ({
    id: id.replace(/[^A-Za-z0-9]/g, ""),
    name: label,
    type: "button",
    style: STYLES[kind] ?? "default",
    integration: {
      url: `${trimEndCharacters(config.callback!, "/")}/channels/mattermost/${account}`,
      context: { button: id, chat: route.chat, proof: makeProof(config.token, id, route.chat) },
    },
  }));
}

export async function receivePress(
  state: MattermostState,
  request: ChannelRequest,
  door: ChannelHost,
): Promise<ChannelAnswer> {
  if (request.method !== "POST") return { status: 405 };
  const body = asObject(asJson(request.body.toString("utf8")));
  const context = asObject(body.context);
  const [button, chat, given] = [asText(context.button), asText(context.chat), asText(context.proof)];
  const [user, post, channel] = [asText(body.user_id), asText(body.post_id), asText(body.channel_id)];
  const isOurs = button && chat && given && isSameSecret(given, makeProof(state.config.token, button, chat));
  if (!isOurs || !user || !post || channel !== chat) {
    throw new AppError("UNAUTHORIZED", {
      message: "This isn't a press of one of Lares's buttons.",
      hint: "Only the Mattermost server calls this address.",
    });
  }
  const kind = await readKind(state, chat, AbortSignal.timeout(10_000));
  const [heard] = await door.hear([
    {
      kind: "button",
      id: `press:${post}:${user}:${asText(body.trigger_id) ?? ""}`,
      chat: { id: chat, kind },
      sender: { id: user },
      message: post,
      button,
    },
  ]);
  return { status: 200, body: heard?.say ? { ephemeral_text: heard.say } : {} };
}

function makeProof(token: string, button: string, chat: string): string {
  return createHmac("sha256", token).update(`lares button ${button} ${chat}`).digest("hex");
}
