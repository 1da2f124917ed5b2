/** `lares teams`: agents that work together, and their rooms. */
import { AppError } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import type { Result } from "../../../core/protocol/index.ts";
import type { Action } from "../context.ts";
import { EXIT } from "../exit.ts";
import { oneLine, when } from "../format.ts";
import { type Paint, table } from "../output.ts";
import { cut } from "../width.ts";
import { teamWords as words } from "../words/teams.ts";

type ListedTeam = Result<"teams.list">["teams"][number];

export const list: Action = async ({ rpc, out }) => {
  const { teams, problems } = await rpc.call("teams.list", {});
  out.items(teams);
  out.say(
    teams.length ? words.some(teams.length) : words.none(out.hint),
    ...table(
      teams.map((team) => [team.id, cut(oneLine(team.title), 40), describeMembers(team)]),
      "  ",
    ),
    ...problems.map((problem) => `  ${out.paint("✕", "fail")} ${problem}`),
  );
  return problems.length ? EXIT.failed : EXIT.done;
};

export const show: Action = async ({ rpc, out }, [id = ""]) => {
  const team = await rpc.call("teams.get", { id });
  out.document(team);
  out.say(
    `${team.title}${team.about ? `: ${oneLine(team.about)}` : ""}`,
    ...table(
      team.members.map((member) => [
        member.agent,
        member.agent === team.lead ? `${words.lead}, ${member.role}` : member.role,
        [member.runtime, member.model].filter(Boolean).join(", "),
        describeState(member, team, out.paint),
      ]),
      "  ",
    ),
    ...(team.room.chat ? [words.room(team.room.chat)] : []),
    ...(team.agreement ? ["", ...team.agreement.split("\n").map((line) => `  ${line}`)] : []),
  );
  return EXIT.done;
};

export const templates: Action = async ({ rpc, out }) => {
  const { templates } = await rpc.call("teams.templates", {});
  out.items(templates);
  out.say(
    words.templates(templates.length, out.hint),
    ...table(
      templates.map(({ id, about }) => [id, oneLine(about)]),
      "  ",
    ),
  );
  return EXIT.done;
};

export const add: Action = async ({ rpc, out, options }, [id = ""]) => {
  const members = options.members ? String(options.members).split(",").map(readMember) : undefined;
  const made = await rpc.call("teams.add", {
    id,
    ...truthy({ template: options.template, title: options.title, members }),
  });
  out.document(made);
  out.say(
    words.made(id, out.hint),
    ...(made.madeAgents.length ? [words.madeAgents(made.madeAgents)] : []),
    words.folder(id),
  );
  return EXIT.done;
};

export const say: Action = async ({ rpc, out }, [id = "", text = ""]) => {
  const post = await rpc.call("teams.post", { id, text });
  out.document(post);
  out.say(words.posted(post.seq, id, out.hint));
  return EXIT.done;
};

export const read: Action = async ({ rpc, out, options }, [id = ""]) => {
  const { posts } = await rpc.call("teams.posts", { id, ...truthy({ after: options.after, limit: options.limit }) });
  out.items(posts);
  out.say(
    ...(posts.length
      ? posts.flatMap(({ seq, name, at, text }) => [
          out.paint(`${seq}  ${oneLine(name)}, ${when(at)}`, "dim"),
          ...text.split("\n").map((line) => `  ${line}`),
        ])
      : [words.noPosts(id, out.hint)]),
  );
  return EXIT.done;
};

export const stop: Action = async ({ rpc, out }, [id = ""]) => {
  const stopped = await rpc.call("teams.stop", { id });
  out.document(stopped);
  out.say(words.stopped(stopped.stopped));
  return EXIT.done;
};

function describeState(member: ListedTeam["members"][number], { speaking }: ListedTeam, paint: Paint): string {
  if (member.missing) return paint(words.missing, "fail");
  return member.agent === speaking ? words.speaking : "";
}

function describeMembers({ members, lead }: ListedTeam): string {
  return members
    .map(({ agent, role }) => (agent === lead ? `${agent} (${words.lead})` : `${agent} (${role})`))
    .join(", ");
}

function readMember(text: string): { agent: string; role?: string } {
  const [, agent, role] = /^\s*([a-z0-9][a-z0-9-]*)(?::([a-z0-9][a-z0-9-]*))?\s*$/.exec(text) ?? [];
  if (agent === undefined) throw new AppError("BAD_REQUEST", { message: words.badMember(text) });
  return { agent, ...truthy({ role }) };
}
