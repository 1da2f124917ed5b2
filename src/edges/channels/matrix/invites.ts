/** Invitations to rooms. Whether one is taken is decided by the account's `join` and by who may talk there. */
import type { ChannelHost } from "../../../core/contracts/index.ts";
import { asList, asObject, asText } from "../../../core/domain/index.ts";
import type { MatrixBatch } from "./batch.ts";
import type { MatrixState } from "./state.ts";

export async function answerInvites(
  { api, config, log }: MatrixState,
  door: ChannelHost,
  { batch, me }: Omit<MatrixBatch, "since">,
  signal: AbortSignal,
): Promise<void> {
  if (config.join === "never") return;
  for (const [room, value] of Object.entries(asObject(asObject(batch.rooms).invite))) {
    const state = asList(asObject(asObject(value).invite_state).events).map(asObject);
    const ours = state.find((event) => event.type === "m.room.member" && event.state_key === me.id);
    const inviter = asText(ours?.sender);
    if (!inviter) continue;
    const isDirect = asObject(ours?.content).is_direct === true;
    const [heard] = await door.hear([
      {
        kind: "member",
        id: `invite ${room}`,
        chat: { id: room, kind: isDirect ? "direct" : "group" },
        sender: { id: inviter },
        change: "joined",
      },
    ]);
    const isWelcome = heard?.outcome !== "refused" || (isDirect && config.join === "direct");
    if (isWelcome && !(await api.join(room, signal))) log.info("an invitation could not be accepted", { room });
  }
}
