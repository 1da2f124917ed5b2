/** The slice `runtimes` of the configuration, and what an agent says about its own. */
import { z } from "zod";
import type { AdviceTable } from "../../core/contracts/index.ts";
import { AppError, NATIVE, readRuntimeName } from "../../core/domain/index.ts";
import { ACP_PROFILES, type AcpProfile, PLAIN } from "./acp/profile.ts";
import { DRIVERS } from "./drivers.ts";
import { runtimeNameTaken, unknownRuntime } from "./words.ts";

const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;

const agentProgram = z
  .strictObject({
    title: z.string().min(1).max(60).optional().describe("What people call it. Example: My agent"),
    command: z.string().min(1).describe("The program: a name on the PATH, or an absolute path. Example: my-agent"),
    args: z.array(z.string()).default([]).describe("Its arguments for speaking ACP. Example: [acp]"),
    package: z
      .string()
      .regex(/^[^-\s]\S{0,499}$/, "a package as npm names it")
      .optional()
      .describe("The npm package that brings the program, for lares runtimes install. Example: my-agent"),
    login: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe("Its arguments for logging in, if it calls its models itself. Example: [login]"),
    env: z
      .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "a variable's name"), z.string())
      .default({})
      .describe(
        'Variables it gets. {home}, {tmp}, {url}, {token} and {model} stand for the run\'s own. Example: {OPENAI_BASE_URL: "{url}/v1"}',
      ),
    apis: z
      .array(z.enum(["anthropic", "openai-chat", "openai-responses", "google"]))
      .default([])
      .describe("Formats of model calls that its variables point at {url}. Empty: it calls its models itself."),
    auth: z.string().min(1).optional().describe("The login method to choose, if it wants one. Example: api-key"),
    mode: z.string().min(1).optional().describe("The mode to set in each of its sessions. Example: default"),
    asks: z
      .enum(["every-call", "some", "never"])
      .default("some")
      .describe(
        "Whether it asks before every tool call, before some, or never. It runs in a sandbox until Lares has seen it ask.",
      ),
    resume: z
      .enum(["load", "none"])
      .default("none")
      .describe("Whether it finds its conversation again in a new process (session/load)."),
    endsWithInput: z.boolean().default(true).describe("Whether it ends when its input does. If not, it is ended."),
  })
  .describe("An agent that speaks the Agent Client Protocol (ACP).");

export const runtimesConfig = z
  .record(z.string().regex(NAME, "made of a-z, 0-9 and -"), agentProgram)
  .default({})
  .describe("Programs that can be an agent's body, besides those that Lares knows. Each speaks ACP.");

type Described = z.output<typeof agentProgram>;
/** As it is held once it is parsed: nobody changes it. */
export type RuntimesConfig = Readonly<
  Record<
    string,
    Readonly<Omit<Described, "args" | "env" | "apis" | "login">> & {
      readonly args: readonly string[];
      readonly login?: readonly string[] | undefined;
      readonly env: Readonly<Record<string, string>>;
      readonly apis: Readonly<Described["apis"]>;
    }
  >
>;

export const agentRuntimeConfig = z
  .string()
  .min(1)
  .optional()
  .describe("What carries out this agent's turns: native, or a program such as opencode. Example: opencode");

/** The profile that a person wrote. */
export function readProfile(name: string, given: RuntimesConfig[string]): AcpProfile {
  const { title = name, auth = null, mode = null, package: from, login: _login, ...rest } = given;
  const { command } = given;
  return {
    ...PLAIN,
    version: ["--version"],
    ...rest,
    name,
    title,
    auth,
    mode,
    install: from === undefined ? `it is ${command} in runtimes.${name}` : `lares runtimes install ${name}`,
    npm: from === undefined ? null : { package: from, script: null },
  };
}

/** Every name that an agent can have as its runtime. */
export function listNames(config: Readonly<Record<string, unknown>>): string[] {
  return [NATIVE, ...new Set([...DRIVERS.map(({ name }) => name), ...Object.keys(config)])];
}

function isKnownRuntime(config: Readonly<Record<string, unknown>>, given: string): boolean {
  const { name, isAcp } = readRuntimeName(given);
  if (Object.hasOwn(config, name) || isProfile(name)) return true;
  return !isAcp && (name === NATIVE || isDriver(name));
}

function isProfile(name: string): boolean {
  return ACP_PROFILES.some((one) => one.name === name);
}

function isDriver(name: string): boolean {
  return DRIVERS.some((one) => one.name === name);
}

export const runtimeAdvice: AdviceTable = {
  "agents.*.runtime": (value, { config }) => {
    const own = (config.runtimes ?? {}) as RuntimesConfig;
    if (typeof value !== "string" || isKnownRuntime(own, value)) return undefined;
    return { message: unknownRuntime(value, listNames(own)), weight: "never" };
  },
  runtimes: (value) => {
    const taken = Object.keys(value ?? {}).find((name) => name === NATIVE || (isDriver(name) && !isProfile(name)));
    return taken === undefined ? undefined : { message: runtimeNameTaken(taken), weight: "never" };
  },
};

type NamedRuntime = { runtime: string; title: string };

/** Finds the runtime that an agent's settings name; nothing: our own loop. Every turn asks, and most agents name none. */
export function makeRuntimeFinder(config: {
  agents: Readonly<Record<string, { runtime?: string | undefined } | undefined>>;
  runtimes: RuntimesConfig;
}): (agent: string, chosen?: string) => NamedRuntime | undefined {
  return (agent, chosen) => {
    const given = chosen ?? config.agents[agent]?.runtime;
    return given === undefined ? undefined : findRuntime(given, config.runtimes);
  };
}

/** A runtime by the name somebody chose for this agent's work. Throws when there is none. */
export function makeRuntimeChoice(config: Parameters<typeof makeRuntimeFinder>[0]) {
  const find = makeRuntimeFinder(config);
  return (given: string, agent: string): { name: string; isForeign: boolean } => {
    if (!isKnownRuntime(config.runtimes, given))
      throw new AppError("TOOL_INPUT", { message: unknownRuntime(given, listNames(config.runtimes)) });
    const { name } = readRuntimeName(given);
    return { name, isForeign: name !== NATIVE && name !== find(agent)?.runtime };
  };
}

function findRuntime(given: string, config: RuntimesConfig): NamedRuntime | undefined {
  const { name } = readRuntimeName(given);
  if (name === NATIVE) return undefined;
  const title = config[name]?.title ?? DRIVERS.find((one) => one.name === name)?.title ?? name;
  return { runtime: name, title };
}

/** The agents whose body it is. */
export function listUsers(config: Parameters<typeof makeRuntimeFinder>[0], runtime: string): string[] {
  const find = makeRuntimeFinder(config);
  return Object.keys(config.agents).filter((agent) => find(agent)?.runtime === runtime);
}
