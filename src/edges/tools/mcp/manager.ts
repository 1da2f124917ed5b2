/** What an owner sees and changes of their servers, in the shapes of the protocol's `mcp.*`. Starts nothing but where it says so. */
import type { Json } from "../../../core/domain/index.ts";
import { defined } from "../../../core/kit/index.ts";
import { type AddPort, addServers } from "./adding/add.ts";
import { isSecretOf } from "./adding/hide.ts";
import { importServers } from "./adding/import.ts";
import { knownSources, namedSources } from "./adding/sources.ts";
import type { ServerConfig } from "./config.ts";
import { describeTool } from "./listed/pins.ts";
import type { McpServers } from "./servers.ts";

type FromVault = "hasSecret" | "isSecret" | "putSecret";

export interface ManagerPort extends Omit<AddPort, "known" | "save" | "workspace" | "userHome" | FromVault> {
  /** Of the settings, not of what is running: a server that never started is listed, too. */
  known(): Readonly<Record<string, ServerConfig>>;
  vault: {
    get(name: string): { reveal(): string } | undefined;
    set(name: string, value: string): Promise<void>;
    list(): readonly { name: string }[];
    remove(name: string): Promise<boolean>;
  };
  /** Whether the settings name this secret, as a value or for an agent. */
  isNamed(secret: string): Promise<boolean>;
  /** Undefined removes it. */
  save(server: string, definition: Json | undefined): Promise<unknown>;
}

export interface ManagerParts extends ManagerPort {
  servers(): McpServers;
  userHome: string;
  workspaces(): readonly string[];
}

export class McpManager {
  readonly #parts: ManagerParts;

  constructor(parts: ManagerParts) {
    this.#parts = parts;
  }

  get servers(): McpServers {
    return this.#parts.servers();
  }

  list() {
    return Object.entries(this.#parts.known()).map(([name, config]) => {
      const { state, tools, held, quarantined, isUnknown } = this.servers.status(name);
      return {
        name,
        target: this.#target(config),
        state: state.kind,
        listed: !isUnknown,
        tools,
        held: held.length,
        quarantined: quarantined.length,
        ...defined({ why: "why" in state ? state.why : undefined, at: "at" in state ? state.at : undefined }),
        ...(this.servers.isLoggingIn(name) ? { loggingIn: true as const } : {}),
      };
    });
  }

  /** `fresh` asks the server, which starts it. */
  async tools({ name, fresh }: { name: string; fresh?: boolean | undefined }) {
    if (fresh) await this.servers.refresh(name);
    const { offered, held, quarantined } = this.servers.describe(name);
    return {
      tools: offered.map((tool) => ({
        name: tool.name,
        modelName: tool.modelName,
        about: describeTool(tool),
        ...describePin(this.servers.whyNotPinned(name, tool)),
        ...defined({ notOffered: this.servers.whyNotOffered(name, tool.name) }),
      })),
      held: held.map(({ tool, why, before }) => ({
        name: tool.name,
        why,
        now: describeTool(tool),
        ...defined({ before }),
      })),
      quarantined: [...quarantined, ...this.servers.unknownPins(name)],
    };
  }

  async add(given: Parameters<typeof addServers>[1]) {
    const { added, ...rest } = await addServers(this.#adding(), given);
    return { added: added.map((one) => ({ name: one.name, target: this.#target(one.config) })), ...rest };
  }

  /** Without a file: what is found in the usual places and in the workspaces. */
  async import({ file, yes }: { file?: string | undefined; yes?: readonly string[] | undefined }) {
    const { userHome, workspaces, redact } = this.#parts;
    const sources = file === undefined ? knownSources(userHome, process.platform, workspaces()) : namedSources(file);
    const { items, added, notes } = await importServers(this.#adding(), { sources, yes });
    const shown = items.map((one) => ({ ...one, ...(one.target ? { target: redact(one.target) } : {}) }));
    return { items: shown, added, notes: notes.map(redact) };
  }

  /** With the secrets that were stored for it alone. */
  async remove(name: string): Promise<{ removed: boolean; secrets: string[] }> {
    const { vault, isNamed } = this.#parts;
    if (!(name in this.#parts.known())) return { removed: false, secrets: [] };
    await this.#parts.save(name, undefined);
    // After the settings, so that a crash in between leaves pins and keys of an unknown server, which harm nobody.
    await this.servers.forget(name);
    const others = Object.keys(this.#parts.known());
    const own = vault.list().flatMap((one) => (isSecretOf(name, one.name) ? [one.name] : []));
    const secrets: string[] = [];
    for (const secret of own.filter((one) => !others.some((other) => isSecretOf(other, one)))) {
      if (!(await isNamed(secret)) && (await vault.remove(secret))) secrets.push(secret);
    }
    return { removed: true, secrets };
  }

  #adding(): AddPort {
    const { known, workspaces, ...port } = this.#parts;
    const { vault } = port;
    return {
      ...port,
      known: known(),
      workspace: workspaces()[0] ?? "",
      hasSecret: (name) => vault.get(name) !== undefined,
      isSecret: (name, value) => vault.get(name)?.reveal() === value,
      putSecret: (name, value) => vault.set(name, value),
    };
  }

  /** Commands and addresses may contain secrets that nobody moved to the vault. */
  #target(config: ServerConfig): string {
    return this.#parts.redact(config.url ?? [config.command, ...config.args].join(" "));
  }
}

function describePin(whyNot: string | undefined): { pinned?: true; notPinned?: string } {
  if (whyNot === undefined) return { pinned: true };
  return whyNot === "" ? {} : { notPinned: whyNot };
}
