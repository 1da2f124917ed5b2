/** Takes what becomes a folder or a file of an agent: the agent itself, its instructions, its skills. */
import { join } from "node:path";
import { type AgentId, asId } from "../../../core/domain/index.ts";
import {
  copyTree,
  filesBelow,
  kindBelow,
  removeTree,
  renameBelow,
  textBelow,
  writeBelow,
} from "../../../core/files/index.ts";
import { trimCharacters } from "../../../core/kit/index.ts";
import { MOST_FILE_BYTES, proposalPlace } from "../proposals.ts";
import {
  type ImportRun,
  type ItemOf,
  makeUnlessDryRun,
  type Outcome,
  reportExisting,
  reportSkipped,
  shortHash,
} from "./outcome.ts";

/** A skill with more is a project. */
const MOST_SKILL = { most: 50 * 1024 * 1024, depth: 24, closed: new Set([".git", "node_modules"]) };
const MOST_SKILL_FILES = 5000;

export async function takeAgent(run: ImportRun, item: ItemOf<"agent">): Promise<Outcome> {
  const agent = asId<AgentId>(item.agent);
  const becomes = `agents/${item.agent}`;
  return run.agents.exists(agent)
    ? reportExisting(becomes)
    : makeUnlessDryRun(run, becomes, async () => run.agents.ensure(agent));
}

export async function takeFile(run: ImportRun, item: ItemOf<"file">): Promise<Outcome> {
  const agent = asId<AgentId>(item.agent);
  const { agents } = run;
  const now = agents.exists(agent) ? (await agents.readFile(agent, item.file)).text : "";
  if (now.trim() === item.text.trim()) return reportExisting(`agents/${item.agent}/${item.file}`);
  // Instructions are the owner's to give: they wait as a proposal, also where the file is still as it was made.
  const beside = `agents/${item.agent}/imported/${item.file}`;
  const place = proposalPlace(run.home, item.agent, item.file);
  const why = `A proposal. Read it with: lares import proposals; accept it with: lares import accept ${item.agent}/${item.file}`;
  const known = await textBelow({ ...place, most: MOST_FILE_BYTES });
  if (known?.trim() === item.text.trim()) return reportExisting(beside);
  const content = item.text;
  return makeUnlessDryRun(
    run,
    beside,
    () => writeBelow({ ...place, content, tag: `import ${beside}`, mode: 0o600 }),
    why,
  );
}

export async function takeSkill(run: ImportRun, item: ItemOf<"skill">): Promise<Outcome> {
  const name = skillName(item.name);
  const becomes = `agents/${item.agent}/skills/${name}`;
  const root = join(run.home, "agents", item.agent);
  if ((await kindBelow({ root, path: `skills/${name}` })) !== "missing") return reportExisting(becomes);
  const { files, more } = await filesBelow(item.dir, { ...MOST_SKILL, most: MOST_SKILL_FILES });
  if (more || files.reduce((sum, file) => sum + file.size, 0) > MOST_SKILL.most)
    return reportSkipped("It is larger than 50 MB, or has more than 5,000 files.");
  const problem = await run.skills.examine(item.dir, name);
  return makeUnlessDryRun(
    run,
    becomes,
    () => copySkill(run, item.dir, root, name),
    problem ? `It cannot be used as it is: ${problem}` : "Not used until you allow it. See how: lares skills list",
  );
}

async function copySkill({ from, skills }: ImportRun, dir: string, root: string, name: string): Promise<void> {
  // A hidden name is no skill yet.
  const draft = { root, path: `skills/.${name}.importing` };
  await removeTree(draft);
  // Links are left behind: one could point anywhere on this machine.
  await copyTree(dir, draft, MOST_SKILL);
  // Somebody else may have written it: it is read as text from outside until it is trusted by name.
  const origin = { root, path: `${draft.path}/${skills.originFile}` };
  await removeTree(origin);
  await writeBelow({ ...origin, content: `${JSON.stringify({ from })}\n`, tag: "origin", mode: 0o600 });
  await renameBelow({ ...draft, to: name });
}

/** A name that can be a skill's: elsewhere they have capitals, spaces and underscores. */
function skillName(name: string): string {
  const dashed = name.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const plain = trimCharacters(dashed.slice(0, 64), "-");
  return plain || `skill-${shortHash(name).slice(0, 8)}`;
}
