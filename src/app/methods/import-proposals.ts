/**
 * What an import proposes and nobody has accepted yet: instructions beside the agent's own (`agents/<id>/imported/FILE`), and
 * facts that wait. Only a person's word makes them count (I12).
 */
import { join } from "node:path";
import { type AgentId, AppError, asId } from "../../core/domain/index.ts";
import { removeTree, textBelow } from "../../core/files/index.ts";
import type { Result } from "../../core/protocol/index.ts";
import type { Handlers } from "../../faces/gateway/index.ts";
import type { MethodParts } from "./parts.ts";

type Proposal = Result<"import.proposals">["files"][number];
type Parts = Pick<MethodParts, "home" | "instance">;

/** What imports propose; MEMORY.md and USER.md come as facts. */
const FILES = ["SOUL.md", "AGENTS.md", "HEARTBEAT.md"] as const;
const MOST_FILE_BYTES = 1024 * 1024;
const FACTS = "facts";
/** Facts decided about at once; an import has a few thousand at most. */
const MOST_FACTS = 100_000;

export function makeProposalMethods(
  parts: Parts,
): Pick<Handlers, "import.proposals" | "import.accept" | "import.reject"> {
  const memory = () => parts.instance().memory.memory;
  const waiting = async () =>
    (await memory().pending({ limit: MOST_FACTS })).filter((fact) => fact.source?.startsWith("import:"));
  const decide = async (keep: boolean) => {
    const facts = await waiting();
    for (const { id } of facts) await memory().decide(id, keep);
    return facts.length;
  };
  return {
    async "import.proposals"() {
      const files: Proposal[] = [];
      for (const agent of parts.instance().agents.names())
        for (const file of FILES) {
          const found = await read(parts, agent, file);
          if (found) files.push(found);
        }
      return { files, facts: (await waiting()).length };
    },
    async "import.accept"({ id, proposed }) {
      if (id === FACTS) return { accepted: await decide(true) };
      const found = await named(parts, id);
      if (proposed !== undefined && proposed !== found.proposed) {
        throw new AppError("CONFLICT", {
          message: `What is proposed for ${id} has changed since you read it.`,
          hint: "Read it again: lares import proposals",
        });
      }
      await parts.instance().agents.writeFile(asId<AgentId>(found.agent), found.file, found.proposed);
      await removeTree(placeOf(parts, found.agent, found.file));
      return { accepted: 1 };
    },
    async "import.reject"({ id }) {
      if (id === FACTS) return { rejected: await decide(false) };
      const found = await named(parts, id);
      await removeTree(placeOf(parts, found.agent, found.file));
      return { rejected: 1 };
    },
  };
}

async function named(parts: Parts, id: string): Promise<Proposal> {
  const [agent = "", name = ""] = id.split("/");
  const file = FILES.find((one) => one === name);
  const known = file && parts.instance().agents.exists(asId<AgentId>(agent));
  const found = known ? await read(parts, agent, file) : undefined;
  if (found) return found;
  throw new AppError("NOT_FOUND", {
    message: `Nothing is proposed for "${id}".`,
    hint: "See what is: lares import proposals",
  });
}

async function read(parts: Parts, agent: string, file: string): Promise<Proposal | undefined> {
  const proposed = await textBelow({ ...placeOf(parts, agent, file), most: MOST_FILE_BYTES });
  if (proposed === undefined) return undefined;
  const { text } = await parts.instance().agents.readFile(asId<AgentId>(agent), file);
  return { id: `${agent}/${file}`, agent, file, now: text, proposed };
}

function placeOf({ home }: Parts, agent: string, file: string) {
  return { root: join(home, "agents", agent), path: `imported/${file}` };
}
