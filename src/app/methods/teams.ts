/** Handlers of `teams.*`. */
import { type AgentId, asId, postKeys } from "../../core/domain/index.ts";
import { defined } from "../../core/kit/index.ts";
import type { Result } from "../../core/protocol/index.ts";
import type { Team, TeamPost } from "../../mind/teams/index.ts";
import type { Asks, MethodParts, Methods } from "./parts.ts";

export function makeTeamMethods(
  parts: Asks<"teams" | "rooms" | "agents"> & Pick<MethodParts, "ids">,
): Methods<"teams"> {
  const teams = () => parts.instance().teams;
  const rooms = () => parts.instance().rooms;
  const wire = async (team: Team): Promise<Result<"teams.list">["teams"][number]> => ({
    id: team.id,
    title: team.title,
    about: team.about,
    lead: team.lead,
    members: team.members.map((member) => ({
      ...member,
      ...(parts.instance().agents.exists(asId<AgentId>(member.agent)) ? {} : { missing: true }),
    })),
    room: team.room,
    ...defined({ speaking: await rooms().speaking(team.id) }),
  });
  return {
    async "teams.list"() {
      await teams().look();
      return { teams: await Promise.all(teams().list().map(wire)), problems: teams().problems() };
    },
    async "teams.get"({ id }) {
      await teams().look();
      const team = rooms().get(id);
      return { ...(await wire(team)), agreement: team.agreement };
    },
    "teams.templates": async () => ({ templates: await teams().templates() }),
    async "teams.add"({ idempotencyKey: _key, ...given }) {
      const { team, madeAgents } = await teams().create(given);
      return { team: await wire(team), madeAgents };
    },
    "teams.posts": async ({ id, after, limit }) => ({
      posts: (await rooms().posts(id, after ?? 0, limit ?? 100)).map(wirePost),
    }),
    async "teams.post"({ id, text, idempotencyKey }, { principal }) {
      const key = postKeys.given(principal.name, idempotencyKey ?? parts.ids.next("post"));
      const authority = principal.scopes.has("admin") ? "owner" : "known";
      const by = { kind: "person", id: principal.name, name: principal.name, authority } as const;
      return wirePost(await rooms().post({ team: id, text, key, by }));
    },
    "teams.stop": ({ id }, { principal }) => rooms().stop(id, principal.name),
  };
}

function wirePost({ seq, kind, author, name, text, at }: TeamPost): Result<"teams.post"> {
  return { seq, kind, author, name, text, at };
}
