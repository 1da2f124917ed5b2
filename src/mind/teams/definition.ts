/** What a team is: the file `team.yaml` in its folder, as people write it. */
import { z } from "zod";
import { AppError } from "../../core/domain/index.ts";

const name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "made of a-z, 0-9 and -");

const member = z.strictObject({
  agent: name.describe("The agent, by its folder's name."),
  role: name.default("member").describe("What it does in the team. Tasks can be given to a role."),
  runtime: z.string().min(1).max(64).optional().describe("What carries out its work here instead of its own body."),
  model: z.string().min(1).max(200).optional().describe("provider/model it uses here."),
});

const room = z
  .strictObject({
    chat: z
      .string()
      .regex(/^[^/\s]+\/[^/\s]+\/\S+$/, "written channel/account/chat")
      .optional()
      .describe("The group chat that is this team's room. Example: telegram/main/-1001234"),
    turns: z.number().int().min(1).max(200).default(12).describe("How many answers one exchange may take."),
    dollars: z.number().positive().max(10_000).optional().describe("How much one exchange may cost."),
  })
  .prefault({});

const teamSchema = z
  .strictObject({
    title: z.string().min(1).max(80),
    about: z.string().max(400).default(""),
    lead: name.describe("The member that answers when nobody else is addressed."),
    members: z.array(member).min(1).max(32),
    room,
  })
  .superRefine(({ lead, members }, issues) => {
    const agents = members.map(({ agent }) => agent);
    if (!agents.includes(lead))
      issues.addIssue({ code: "custom", path: ["lead"], message: `"${lead}" isn't a member` });
    const twice = agents.find((agent, at) => agents.indexOf(agent) !== at);
    if (twice) issues.addIssue({ code: "custom", path: ["members"], message: `"${twice}" is a member twice` });
  });

export type TeamMember = z.output<typeof member>;
export type TeamFile = z.output<typeof teamSchema>;

/** A team as everybody else knows it. */
export interface Team extends TeamFile {
  /** Its folder's name. */
  id: string;
  /** TEAM.md: how its members work together, in the owner's words. */
  agreement: string;
}

/** Throws a sentence that names the file and the field. */
export function readTeam(id: string, content: unknown, agreement: string): Team {
  const read = teamSchema.safeParse(content);
  if (read.success) return { id, agreement, ...read.data };
  const [issue] = read.error.issues;
  const field = issue?.path.join(".") || "the file";
  throw new AppError("CONFIG_INVALID", {
    message: `teams/${id}/team.yaml: ${field} ${issue?.message ?? "can't be read"}.`,
    hint: "docs/TEAMS.md has an example of the whole file.",
    retry: "after-change",
  });
}

/** Who takes tasks: every agent by itself, and once more for each team that it is in, with its role there. */
export function listTaskMembers(
  agents: readonly string[],
  teams: readonly Pick<Team, "id" | "members">[],
): { agent: string; roles: string[]; team?: string }[] {
  const inTeams = teams.flatMap(({ id, members }) =>
    members
      .map(({ agent, role }) => ({ agent, roles: [role], team: id }))
      .filter(({ agent }) => agents.includes(agent)),
  );
  return [...agents.map((agent) => ({ agent, roles: [] })), ...inTeams];
}

/** The member of this name, or else the first with this role. */
export function findMember(team: Pick<Team, "members">, named: string): TeamMember | undefined {
  const wanted = named.toLowerCase();
  return team.members.find(({ agent }) => agent === wanted) ?? team.members.find(({ role }) => role === wanted);
}
