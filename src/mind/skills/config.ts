import { z } from "zod";

const names = z.array(z.string().min(1).max(64));

export const skillsConfig = z
  .strictObject({
    disabled: names.default([]).describe("Skills turned off for all agents, by name. Example: [weather]"),
    allowed: names
      .default([])
      .describe(
        'Imported skills that agents may use, by name; "*" for all of them. They are read as text from outside.',
      ),
    trusted: names
      .default([])
      .describe('Imported skills that agents may use and whose words count as your own; "*" for all of them.'),
    promptTokens: z
      .number()
      .int()
      .min(0)
      .max(400)
      .default(200)
      .describe("How much of the skill list is included in every request; 0 leaves skills to tool_search."),
  })
  .describe("Skills: folders with a SKILL.md in skills/ of the home and of each agent.");

export const agentSkillsConfig = z
  .strictObject({ disabled: names.default([]).describe("Skills turned off for this agent, by name.") })
  .describe("This agent's skills.");

export type SkillsConfig = z.output<typeof skillsConfig>;
