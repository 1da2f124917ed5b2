export { agentSkillsConfig, skillsConfig } from "./config.ts";
export { LARGEST_SKILL, ORIGIN_FILE, type Skill, Skills } from "./skills.ts";
