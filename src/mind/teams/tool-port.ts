import type { ToolCaller } from "../../core/contracts/index.ts";
import { type Origin, postKeys } from "../../core/domain/index.ts";
import type { TeamRooms } from "./rooms.ts";

/** What the room tools see: the rooms of the caller's own teams. The author is always the caller (TEAMS-5). */
export function makeRoomToolPort(rooms: TeamRooms) {
  return {
    async post(given: { key: string; team?: string; text: string; caller: ToolCaller }) {
      const { agent, session } = given.caller;
      const team = rooms.chooseTeam(given.team, agent);
      const key = postKeys.given(agent, given.key);
      const { seq } = await rooms.post({
        team: team.id,
        text: given.text,
        key,
        by: { kind: "member", agent, session },
      });
      return { team: team.id, seq };
    },
    async read(given: { team?: string; after?: number; caller: ToolCaller }) {
      const { team, posts } = await rooms.readFor(given.team, given.caller.agent, given.after);
      const isOwn = posts.every(({ outside, authority }) => outside === 0 && authority === "owner");
      return {
        team: team.id,
        posts: posts.map(({ seq, kind, name, text, at }) => ({ seq, kind, name, text, at })),
        origin: (isOwn ? "own" : "outside") as Origin,
      };
    },
  };
}
