/**
 * The gate's slice of the configuration, as DESIGN §14 writes it.
 *
 * An agent's own `policy` is laid over the general one: its `mode` replaces, its `allow` and `deny` lists are added to the
 * general ones. So what the general policy denies, no agent is allowed.
 */
import { join } from "node:path";
import { z } from "zod";
import type { Advice, AdviceContext, AdviceTable } from "../../core/contracts/index.ts";
import { nearest, parseHost } from "../../core/kit/index.ts";
import { secret } from "./floor-places.ts";
import { needsSpelling, takesScript } from "./programs.ts";
import { parseExecRule } from "./rules.ts";
import { coversLittle, coversNoProgram, coversShellWord, neverAllowed, noSuchTools, notAHost } from "./words.ts";

const TOOL = /^[a-z][a-z0-9_]{0,63}$/;

const rules = z.record(z.string().regex(TOOL, "a tool's name"), z.array(z.string().min(1)));

const mode = z
  .enum(["ask", "record", "ignore"])
  .describe("ask: anything no rule allows waits for a person. record: allowed, with an audit trail. ignore: trusted.");

const lists = {
  allow: rules
    .superRefine((value, ctx) => {
      for (const [i, rule] of (value.exec ?? []).entries()) {
        const problem = parseExecRule(rule).problem;
        if (problem) ctx.addIssue({ code: "custom", path: ["exec", i], message: problem });
      }
    })
    .default({})
    .describe(
      'What needs no asking, by tool: programs with arguments for exec ("git status *"), paths for read and write ("workspace/**"), hosts for web_fetch, tools of servers for mcp ("github/list_*").',
    )
    .meta({ examples: [{ exec: ["git status *", "ls *"], write: ["workspace/**"], web_fetch: ["docs.example.com"] }] }),
  deny: rules
    .default({})
    .describe("What is never allowed, even if another rule allows it; written like allow.")
    .meta({ examples: [{ exec: ["curl *"], write: ["workspace/.git/**"] }] }),
};

export const policyConfig = z
  .strictObject({ mode: mode.default("ask"), ...lists })
  .describe("What agents may do without asking.");
/** The same for one agent; without a mode the general one applies. */
export const agentPolicyConfig = z
  .strictObject({ mode: mode.optional(), ...lists })
  .describe(
    "What this agent may do without asking, in addition to the general policy; its mode replaces the general one.",
  );
/** Rules that are never looked at, or cover less than they seem to. `shellWords`: what a shell takes for its own, not for a program. */
export function adviseRules(tools: readonly string[], shellWords: ReadonlySet<string>): AdviceTable {
  const judge = (value: unknown): Advice | undefined => {
    const names = Object.keys(value as object).filter((name) => !tools.includes(name));
    if (names.length === 0) return undefined;
    return {
      message: noSuchTools(
        names.map((name) => ({ name, near: nearest(name, tools) })),
        tools,
      ),
      weight: "never",
    };
  };
  const lists = ["allow", "deny"].flatMap((list) => [`policy.${list}`, `agents.*.policy.${list}`]);
  return Object.fromEntries([
    ...lists.map((path) => [path, judge] as const),
    ...lists.flatMap((path) => HOST_TOOLS.map((tool) => [`${path}.${tool}.*`, judgeHostRule] as const)),
    ...["policy.allow", "agents.*.policy.allow"].flatMap((path) => [
      ...PATH_TOOLS.map((tool) => [`${path}.${tool}.*`, judgePathRule] as const),
      [`${path}.exec.*`, (value: unknown) => judgeExecRule(String(value), shellWords)] as const,
    ]),
    ["channels.*.*.groups.*.tools.*", (value: unknown) => judge({ [String(value)]: [] })] as const,
  ]);
}

/** A rule for no program, for a word of the shell, or for anything that an interpreter or wrapper is given. */
function judgeExecRule(text: string, shellWords: ReadonlySet<string>): Advice | undefined {
  const { words, open, problem } = parseExecRule(text);
  const [name] = words;
  if (problem !== undefined || name === undefined) return undefined;
  if (shellWords.has(name)) return { message: coversShellWord(text, name), weight: "never" };
  if (/[*?]/.test(name) && !/^~|\//.test(name)) return judgeWildName({ text, name, words, open }, shellWords);
  if (!open || words.length > 1 || !needsSpelling(name)) return undefined;
  return { message: coversLittle(text, name, examplesFor(name)), weight: "note", holds: true };
}

/** Rules for a program whose arguments have to be spelt, each of which covers what it seems to. */
function examplesFor(name: string): string[] {
  if (name === "npx") return ["npx tsc *"];
  if (name === "sqlite3") return ["sqlite3 -safe app.db *"];
  if (name === "make") return ["make test"];
  const module = /^python[\d.]*$/.test(name) ? [`${name} -m pytest *`] : [];
  return takesScript(name) ? [`${name} tools/report *`, ...module] : [];
}

/** "ls*": an allow rule's program is that name, letter by letter, unless it is a path. */
function judgeWildName(
  { text, name, words, open }: { text: string; name: string; words: readonly string[]; open: boolean },
  shellWords: ReadonlySet<string>,
): Advice {
  const end = name.search(/[*?]/);
  const program = /[^*?]/.test(name.slice(end)) ? "" : name.slice(0, end);
  if (shellWords.has(program)) return { message: coversShellWord(text, program), weight: "never" };
  const rest = words.slice(1);
  const isPlain = /^\w[\w.+-]*\w$/.test(program) && rest.every((word) => !/[\s'"]/.test(word));
  const meant = [program, ...rest, ...(open || rest.length === 0 ? ["*"] : [])].join(" ");
  // A rule that would be advised against itself is none to propose.
  const [better] = isPlain && needsSpelling(program) && meant === `${program} *` ? examplesFor(program) : [meant];
  return { message: coversNoProgram(text, isPlain ? better : undefined), weight: "never" };
}

/** Their rules name paths. */
const PATH_TOOLS = ["read", "list", "search", "write", "edit", "apply_patch"];

/** A rule for a place that is always closed. One that covers other places as well does something, and stays. */
function judgePathRule(value: unknown, { home, env }: AdviceContext): Advice | undefined {
  const userHome = env.HOME ?? "/root";
  let path = String(value).replace(/^~(?=\/|$)/, userHome);
  while (path.endsWith("/*") || path.endsWith("/**")) path = path.slice(0, path.lastIndexOf("/"));
  if (!path.startsWith("/") || /[*?]/.test(path)) return undefined;
  // What agents keep below their folders is theirs.
  const agentDir = join(home, "agents");
  const why = secret(path, { home, userHome, agentDir, workspace: agentDir });
  return why === undefined ? undefined : { message: neverAllowed(String(value), why), weight: "never" };
}

/** Their rules name hosts. */
const HOST_TOOLS = ["web_fetch", "web_search", "browser"];

/** A rule about hosts that no address could match. */
function judgeHostRule(value: unknown): Advice | undefined {
  const rule = String(value);
  const host = rule.toLowerCase().replace(/^\*\./, "").replace(/\.$/, "");
  const known = parseHost(host)?.host;
  if (known === host && !/[^a-z0-9_.:-]/.test(host)) return undefined;
  const bare = hostIn(rule);
  const example = bare === undefined ? "docs.example.com or *.example.com" : bare;
  return { message: notAHost(rule, example), weight: "never" };
}

/** The host that somebody who gave an address, a path or a port may have meant. */
function hostIn(rule: string): string | undefined {
  const url = rule.includes("://") ? rule : `https://${rule}`;
  const found = URL.canParse(url) ? new URL(url).hostname : "";
  return found !== "" && !/[^a-z0-9.-]/.test(found) ? found : undefined;
}

export type PolicyConfig = z.output<typeof policyConfig>;
