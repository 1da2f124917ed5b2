/**
 * The Lares that the conformance script kills: an adapter with one run, which says each event to its parent before it asks for the next one.
 * `kill-child.ts <JSON>`: the runtime's name, where its program is, the request and the ports.
 */
import type { RunPorts, RunRequest } from "../../src/core/contracts/index.ts";
import { systemClock } from "../../src/core/kit/index.ts";
import type { DriverParts } from "../../src/edges/runtimes/driver.ts";
import { DRIVERS } from "../../src/edges/runtimes/index.ts";
import { endRun } from "../../src/edges/tools/exec/processes.ts";

export interface KilledRun {
  runtime: string;
  folders: readonly string[];
  tag: string;
  /** What else its adapter is made from. */
  more?: Pick<DriverParts, "kept" | "userHome">;
  /** Another one than the request's. */
  model?: string;
  request: RunRequest;
  ports: Omit<RunPorts, "confine">;
  /** Every question is answered with yes. */
  allows: boolean;
}

const { runtime, folders, tag, more, model, request, ports, allows } = JSON.parse(process.argv[2]!) as KilledRun;
const driver = DRIVERS.find(({ name }) => name === runtime)!;
const parts = { clock: systemClock, searchPath: () => folders, tag, endRun: (run: { key: string }) => endRun(run) };
const adapter = await driver.make({ ...parts, ...more });
const lent = { ...ports, confine: async <T>(command: T) => command };
const session = await adapter.open(model ? { ...request, model } : request, lent, new AbortController().signal);
for await (const event of session.events(request.lastSeq)) {
  process.send?.(event);
  if (allows && event.body.type === "ask") await session.answer(event.body.ask, { kind: "allow" });
}
