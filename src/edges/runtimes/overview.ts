/** What people see of a runtime: whether it is here, what it can do and how that is known, what it lacks, and what to do about it. */
import type { Proof, RuntimeCapabilities, RuntimeSkill } from "../../core/contracts/index.ts";
import { defined, quoted, truthy } from "../../core/kit/index.ts";
import type { RuntimesConfig } from "./config.ts";
import type { RuntimeState } from "./host.ts";
import { skillWords, overviewWords as words } from "./overview-words.ts";

export interface RuntimeView {
  name: string;
  title: string;
  state: "ready" | "needs-login" | "missing" | "broken";
  version?: string;
  /** What to do about it, where it isn't ready. */
  fix?: string;
  program?: string;
  /** Lares installed it. */
  ours?: boolean;
  /** `lares runtimes install` knows where it comes from. */
  package?: string;
  /** Installing it runs this script of its package. */
  script?: string;
  skills: { skill: RuntimeSkill; proof: Proof; text: string; note?: string }[];
  triedAt?: number;
  /** What a run here has to do without, in sentences. */
  lacks: string[];
  /** Why there would be no run. */
  refused?: string;
  /** What is around a run here. */
  boundary?: string;
  agents: string[];
}

export function viewRuntime(state: RuntimeState, agents: readonly string[]): RuntimeView {
  const { driver, probe, program, isOurs, can, plan, refused, triedAt } = state;
  const fix = probe.state === "ready" ? undefined : probe.fix;
  return {
    name: driver.name,
    title: driver.title,
    state: probe.state,
    ...defined({ version: "version" in probe ? probe.version : undefined, fix, program: program ?? undefined }),
    ...truthy({ ours: isOurs, refused, triedAt, script: driver.npm?.script, package: driver.npm?.package }),
    ...defined({ boundary: plan?.boundary }),
    skills: can ? listSkills(can) : [],
    lacks: plan ? plan.shortfalls.map(({ text }) => text) : [],
    agents: [...agents],
  };
}

function listSkills(can: RuntimeCapabilities): RuntimeView["skills"] {
  return (Object.keys(skillWords) as RuntimeSkill[]).map((skill) => {
    const claim = can[skill];
    const value = claim.proof === "absent" ? undefined : claim.value;
    return { skill, proof: claim.proof, text: skillWords[skill](value), ...defined({ note: claim.note }) };
  });
}

export interface RuntimeLogin {
  needed: boolean;
  text: string;
  /** To be run in a terminal. */
  command?: string;
}

/** Whether a runtime has to be logged in, and how. `home`: the folder that it has as its home in an agent's runs. */
export function viewLogin(state: RuntimeState, config: RuntimesConfig, home: string): RuntimeLogin {
  const { driver, probe, can } = state;
  if (probe.state === "missing" || probe.state === "broken") return { needed: false, text: probe.fix };
  const isProxied = can !== null && can.proxy.proof !== "absent";
  if (isProxied) return { needed: false, text: words.noLogin(driver.title) };
  if (probe.state === "needs-login") return { needed: true, text: probe.fix };
  const described = config[driver.name];
  if (!described) return { needed: false, text: words.ownKeys(driver.title) };
  const args = described.login;
  if (!args) return { needed: true, text: words.ownLogin(driver.title, driver.name) };
  return { needed: true, text: words.loginWith(driver.title), command: writeCommand(home, [driver.program, ...args]) };
}

function writeCommand(home: string, argv: readonly string[]): string {
  return [`HOME=${quoted(home)}`, ...argv.map(quoted)].join(" ");
}

/** What is wrong with a runtime, in sentences; none: a run can start. */
export function findProblems({ state, fix, refused }: RuntimeView): string[] {
  if (state !== "ready") return [fix ?? words.notReady];
  return refused === undefined ? [] : [refused];
}
