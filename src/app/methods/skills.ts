/** Handlers of `skills.*`. */
import { type AgentId, asId, unknownAgent } from "../../core/domain/index.ts";
import { truthy } from "../../core/kit/index.ts";
import { withInside } from "../../edges/tools/index.ts";
import { LARGEST_SKILL, type Skill } from "../../mind/skills/index.ts";
import type { Asks, MethodParts, Methods } from "./parts.ts";

export function makeSkillMethods(parts: Asks<"agents" | "skills"> & Pick<MethodParts, "config">): Methods<"skills"> {
  // People ask about skills without naming an agent; most homes have one.
  const who = (given: string | undefined): string => {
    const agent = given ?? parts.config.routing.defaultAgent;
    const { agents } = parts.instance();
    if (agents.exists(asId<AgentId>(agent))) return agent;
    throw unknownAgent(agent, agents.names());
  };
  return {
    async "skills.list"(p) {
      const agent = who(p.agent);
      return { agent, skills: (await parts.instance().skills.list(agent)).map(shown) };
    },
    async "skills.get"(p) {
      const { skills } = parts.instance();
      const skill = await skills.find(who(p.agent), p.name);
      const { allowedTools, metadata } = skill.about;
      const card = { ...shown(skill), ...truthy({ allowedTools, metadata }) };
      // Its text may be what made it unusable, so only the reason is shown.
      if (skill.state === "unusable") return { ...card, text: "", files: [] };
      const { body, files } = await skills.words(skill);
      const text = p.file === undefined ? body : await readSkillFile(skill, p.file);
      return { ...card, text, files: [...files] };
    },
  };
}

/** Never outside the skill's own folder (SKILLS-1). */
function readSkillFile(skill: Skill, path: string): Promise<string> {
  return withInside({ root: skill.root, path }, async (inside) =>
    (await inside.readFile(LARGEST_SKILL)).toString("utf8"),
  );
}

function shown({ root, about, ...rest }: Skill) {
  const { notes, license, compatibility } = about;
  return {
    ...rest,
    folder: root,
    notes: [...notes],
    ...truthy({ license, compatibility }),
  };
}
