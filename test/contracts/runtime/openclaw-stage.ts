/**
 * OpenClaw on the stage of the contract: a gateway that is there already, real or the fake that replays its transcripts (test/fakes/openclaw),
 * found by settings in a home. Both take the same prompts, those of the model server.
 */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunPorts, RunRequest } from "../../../src/core/contracts/index.ts";
import { type Clock, systemClock } from "../../../src/core/kit/index.ts";
import { makeOpenClawAdapter } from "../../../src/edges/runtimes/openclaw/adapter.ts";
import { scratch, until } from "../../support/index.ts";
import { type RuntimeStage, unconfined } from "./rig.ts";

export interface GatewayAt {
  port: number;
  token: string;
  /** Where its agent works. */
  work: string;
  /** What its model read last. */
  heard(): string;
  /** Connections of devices. */
  connections(): number;
}

export interface ClawStage extends RuntimeStage {
  userHome: string;
  kept: string;
}

export interface ClawStageOptions {
  clock?: Clock;
  /** In its settings, instead of the gateway's. */
  settings?: object | string | null;
  /** Of the gateway, for prompts that fail: its key isn't used for a minute after that. */
  failing?: string;
}

export function openClawStage(at: GatewayAt, options: ClawStageOptions = {}): ClawStage {
  const { clock = systemClock, settings, failing } = options;
  const userHome = scratch("openclaw-run");
  const kept = join(userHome, "kept");
  const given = settings === undefined ? { gateway: { port: at.port, auth: { token: at.token } } } : settings;
  mkdirSync(join(userHome, ".openclaw"));
  const text = typeof given === "string" ? given : JSON.stringify(given);
  if (given !== null) writeFileSync(join(userHome, ".openclaw", "openclaw.json"), text);
  const parts = { clock, searchPath: () => [], tag: "LARES_RUN", endRun: async () => 0, kept, userHome };
  const adapter = makeOpenClawAdapter(parts);
  const isFailing = ({ prompt }: RunRequest) => prompt.text.startsWith("fail:401");
  return {
    userHome,
    kept,
    adapter: {
      ...adapter,
      open: (request, ports, signal) =>
        adapter.open(failing && isFailing(request) ? { ...request, model: failing } : request, ports, signal),
    },
    prompts: {
      say: (words) => `say:${words}`,
      think: (thought, words) => `think:${thought} say:${words}`,
      // A command with a redirection is refused without a question: the gateway can't bind an answer to it.
      act: (mark, words) => `tool:exec {"command":"mktemp -p . mark.${mark}.XXXXXX"} then: say:${words}`,
      forever: (words) => `gap:400 say:${words}${" more".repeat(24)}`,
      fail: () => "fail:401",
    },
    ports: (): RunPorts => ({ models: null, mcp: [], home: null, tmp: userHome, env: {}, confine: unconfined }),
    workspace: { path: at.work, boundary: "none", writable: true },
    marks: (mark) => readdirSync(at.work).filter((name) => name.startsWith(`mark.${mark}.`)).length,
    // The gateway hears of an end a moment later.
    left: () => until("no connection", () => at.connections() === 0).then(() => []),
    heard: () => at.heard(),
    close: async () => {},
  };
}
