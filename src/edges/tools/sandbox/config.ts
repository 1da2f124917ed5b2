/** The slice `sandbox` of the configuration. */
import { z } from "zod";

export const sandboxConfig = z
  .strictObject({
    backend: z
      .enum(["auto", "bubblewrap", "none", "docker", "podman", "ssh"])
      .default("auto")
      .describe("What confines commands. auto: bubblewrap where it works, otherwise nothing, with a warning."),
    network: z
      .union([z.boolean(), z.string().min(1)])
      .default(false)
      .describe(
        "Whether commands may use the network: true or false (off, no and none mean false). For docker and podman also a network's name. Example: true",
      ),
    readable: z
      .array(z.string().min(1))
      .default([])
      .describe("Folders that commands may read, besides the system's. Example: [/srv/data]"),
    image: z.string().min(1).optional().describe("The image for docker and podman. Example: debian:stable-slim"),
    host: z.string().min(1).optional().describe("The machine for ssh. Example: agent@build.lan"),
    folder: z.string().min(1).optional().describe("The folder on that machine that serves as the workspace."),
    limits: z
      .strictObject({
        memoryMb: z
          .number()
          .int()
          .min(64)
          .default(4096)
          .describe("Memory for one command with all its processes; at most three quarters of the machine's."),
        processes: z.number().int().min(8).default(512).describe("Processes one command may have at a time."),
        tmpMb: z
          .number()
          .int()
          .min(1)
          .default(1024)
          .describe("Space in each of /tmp, /var/tmp and /dev/shm inside the sandbox; it counts as memory."),
        fileMb: z.number().int().min(1).default(8192).describe("Largest file a command may write."),
      })
      .prefault({})
      .describe("What one command may use. Applies without a sandbox too, except tmpMb; not on another machine (ssh)."),
    dangerouslyAllow: z
      .array(z.enum(["binds", "network"]))
      .default([])
      .describe("Allows what would be a way out of the sandbox: binds such as /etc, networks such as host."),
  })
  .superRefine(({ backend, network, image, host }, context) => {
    const needs = (path: string) =>
      context.addIssue({ code: "custom", path: [path], message: `the backend ${backend} needs it` });
    if (isContainer(backend) && !image) needs("image");
    if (backend === "ssh" && !host) needs("host");
    if (readNetwork({ backend, network }) === undefined)
      context.addIssue({ code: "custom", path: ["network"], message: networkRefusal(backend, String(network)) });
  })
  .prefault({})
  .describe("Where commands run.");

/** YAML 1.2 and the command line hand these over as text, and a variable always does. */
const OFF = /^(none|false|off|no|disabled?)$/i;
const ON = /^(true|on|yes|enabled?)$/i;

/** Whether commands have the network, or by which name; undefined for what isn't understood, which has to mean no network. */
export function readNetwork({
  backend,
  network,
}: Pick<z.output<typeof sandboxConfig>, "backend" | "network">): boolean | string | undefined {
  if (typeof network === "boolean") return network;
  if (OFF.test(network)) return false;
  if (network === "true") return true;
  return isContainer(backend) && !ON.test(network) ? network : undefined;
}

export function hasNetwork(config: Pick<SandboxConfig, "backend" | "network">): boolean {
  const read = readNetwork(config);
  return read !== undefined && read !== false;
}

function isContainer(backend: string): boolean {
  return backend === "docker" || backend === "podman";
}

function networkRefusal(backend: string, network: string): string {
  const named = isContainer(backend) ? "" : " Only docker and podman have networks with names.";
  return `must be true or false, not "${network}". Write false to keep commands off the network.${named}`;
}

/** One agent's own section. */
export const agentSandboxConfig = z
  .strictObject({
    network: z
      .literal(false)
      .describe("This agent's commands, and those of sub-agents it asks for, reach no network in the sandbox."),
  })
  .partial()
  .optional()
  .describe("Where this agent is confined more than the others.");

type Parsed = z.output<typeof sandboxConfig>;
/** As it is held once it is parsed: nobody changes it. */
export type SandboxConfig = Readonly<Omit<Parsed, "readable" | "dangerouslyAllow">> & {
  readonly readable: readonly string[];
  readonly dangerouslyAllow: Readonly<Parsed["dangerouslyAllow"]>;
};

/** The sandbox of one agent: as it is for all, or confined more where the agent's own settings say so. */
export function sandboxFor(
  all: SandboxConfig,
  agents: Readonly<Record<string, { sandbox?: { network?: false | undefined } | undefined } | undefined>>,
  agent: string | undefined,
): SandboxConfig {
  const isCut = agent !== undefined && agents[agent]?.sandbox?.network === false;
  return isCut ? { ...all, network: false } : all;
}
