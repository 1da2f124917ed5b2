export { agentSkillsConfig, type SkillsConfig, skillsConfig } from "./config.ts";
export { LARGEST_SKILL, ORIGIN_FILE, type Skill, type SkillFiles, type SkillState, Skills } from "./skills.ts";
