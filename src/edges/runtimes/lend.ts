/** What a run is lent: its folders, a door to models, a boundary. All of it ends with the run (HOST-2). */
import type {
  RunCommand,
  RunPorts,
  RunRequest,
  RunSession,
  RunTools,
  RuntimeAdapter,
  RuntimeCapabilities,
} from "../../core/contracts/index.ts";
import { ATTEMPT_TAG } from "./driver.ts";
import { type RunFolders, removeFolders } from "./folders.ts";
import type { HostParts, OpenRun, RunRoom } from "./host.ts";
import type { RunPlan } from "./plan/plan.ts";
import { type ModelProxy, TOOLS_PATH } from "./proxy/door.ts";

export interface LendRequest {
  of: OpenRun;
  adapter: RuntimeAdapter;
  can: RuntimeCapabilities;
  plan: Pick<RunPlan, "boundary" | "home">;
  folders: RunFolders;
  /** Besides what every run may read. */
  readable: readonly string[];
  /** Opened when the runtime's calls can go through it. */
  door(): ModelProxy;
  begin: BeginRun;
}

/** Null: there is nothing to begin. */
export type BeginRun = (adapter: RuntimeAdapter, request: RunRequest, ports: RunPorts) => Promise<RunSession | null>;

/** As runtimes name the server of our tools. */
const OWN_SERVER = "lares";
/**
 * The port of the door inside every sandbox, which has a separate network. Always the same one: Hermes stores the address of its model with
 * a conversation, and goes on with that one.
 */
const PORT_INSIDE = 7719;
/** A lease outlives any turn; it ends with its run. */
const LEASE_MS = 30 * 86_400_000;

/** `closing`: what ends after the session. Throws an AppError when it surely did not start; then nothing is left of it. */
export async function lend(
  parts: Pick<HostParts, "clock" | "tag" | "environment" | "confine">,
  { of, adapter, can, plan, folders, readable, door, begin }: LendRequest,
): Promise<{ session: RunSession; isMetered: boolean; closing: readonly (() => void)[] } | null> {
  const { run, turn, session, agent, listener } = of;
  const closing: (() => void)[] = [() => removeFolders(folders)];
  const model = can.proxy.proof === "absent" ? null : of.model;
  try {
    const grant = async (tools?: RunTools) => {
      const until = parts.clock.now() + LEASE_MS;
      const who = { run, turn, session, agent, listener, runtime: adapter.name, model, until };
      const lease = await door().grant(tools ? { ...who, tools } : who);
      closing.unshift(() => lease.revoke());
      return lease;
    };
    const lease = can.proxy.proof === "absent" ? null : await grant();
    const tools = can.mcp.proof === "absent" || of.tools.specs.length === 0 ? null : await grant(of.tools);
    const way = lease ?? tools;
    const room: RunRoom = {
      key: run,
      writable: [folders.tmp, folders.home, of.workspace],
      readable,
      way: way && { folder: folders.way, port: Number(new URL(way.baseUrl).port), inside: PORT_INSIDE },
    };
    const address = (lease: { baseUrl: string }) =>
      plan.boundary === "sandbox" ? addressInside(lease) : lease.baseUrl;
    const request: RunRequest = {
      ...of,
      model,
      workspace: { path: of.workspace, boundary: plan.boundary, writable: true },
    };
    const ports = {
      models: lease && { baseUrl: address(lease), token: lease.token },
      mcp: tools ? [{ name: OWN_SERVER, url: `${address(tools)}${TOOLS_PATH}`, token: tools.token }] : [],
      isServing: () => of.isServing(),
      home: plan.home === "kept" ? folders.home : null,
      tmp: folders.tmp,
      env: {
        ...parts.environment(folders.home),
        TMPDIR: folders.tmp,
        [parts.tag]: run,
        [ATTEMPT_TAG]: String(of.attempt),
      },
      confine: async (command: RunCommand) => {
        if (plan.boundary !== "sandbox") return command;
        const confined = await parts.confine(room, command);
        closing.unshift(() => confined.close());
        return confined.command;
      },
    };
    const opened = await begin(adapter, request, ports);
    if (opened) return { session: opened, isMetered: lease !== null, closing };
    for (const close of closing) close();
    return null;
  } catch (error) {
    for (const close of closing) close();
    throw error;
  }
}

function addressInside({ baseUrl }: { baseUrl: string }): string {
  const url = new URL(baseUrl);
  url.port = String(PORT_INSIDE);
  return url.href.replace(/\/$/, "");
}
