/** The real programs, each from its registry into a cache folder outside the repository, once. Their install scripts don't run. */
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { findNode, fromNpm, fromPyPi } from "../support/outside.ts";
import type { RealStage } from "./conformance.ts";
import { openRealAcpStage } from "./real-acp.ts";
import { openRealClaudeStage } from "./real-claude-code.ts";
import { openRealCodexStage } from "./real-codex.ts";
import { openRealClawStage, type RealGateway, startRealGateway } from "./real-openclaw.ts";
import type { RealBody } from "./whole/lares.ts";

export interface InstalledRuntime {
  /** For one check of its adapter. */
  openStage(): Promise<RealStage>;
  /** For an agent of a whole Lares. */
  body(): Promise<RealBody>;
}

export interface RealRuntime {
  name: string;
  /** Installs it where it isn't yet. */
  install(): InstalledRuntime;
}

const CACHE = join(tmpdir(), "lares-runtimes");

export const RUNTIMES: readonly RealRuntime[] = [
  {
    name: "claude-code",
    install() {
      const folder = () => fromNpm(join(CACHE, "claude-code"), { "@anthropic-ai/claude-code": "2.1.325" });
      const native = `claude-code-${process.platform}-${process.arch}/claude`;
      const path = process.env.LARES_REAL_CLAUDE ?? join(folder(), "node_modules/@anthropic-ai", native);
      return {
        openStage: () => openRealClaudeStage(path),
        body: async () => child("claude-code", "anthropic/claude-sonnet-4-5", { name: "claude", path }),
      };
    },
  },
  {
    name: "codex",
    install() {
      const folder = () => fromNpm(join(CACHE, "codex"), { "@openai/codex": "0.166.0" });
      const path = process.env.LARES_REAL_CODEX ?? join(folder(), "node_modules/.bin/codex");
      return {
        openStage: () => openRealCodexStage(path),
        // For a model that it knows, Codex has other tools: code in which these are called.
        body: async () => child("codex", "openai/scripted", { name: "codex", path }),
      };
    },
  },
  {
    name: "opencode",
    install() {
      const folder = () => fromNpm(join(CACHE, "opencode"), { "opencode-ai": "1.18.33" });
      const native = `opencode-${process.platform}-${process.arch}/bin/opencode`;
      const path = process.env.LARES_REAL_OPENCODE ?? join(folder(), "node_modules", native);
      return {
        openStage: () => openRealAcpStage("opencode", path, { shell: "bash", lent: "lares_note" }),
        body: async () => child("opencode", "chat/gpt-4.1", { name: "opencode", path }),
      };
    },
  },
  {
    name: "hermes",
    install() {
      const python = fromPyPi(join(CACHE, "hermes"), ["hermes-agent[acp,mcp]==0.19.0"]);
      if (!python) throw new Error("There is no Python to install Hermes with.");
      const path = join(dirname(python), "hermes");
      const tools = { shell: "terminal", lent: "mcp__lares__note", danger: "; rm -rf ./none" };
      return {
        openStage: () => openRealAcpStage("hermes", path, tools),
        body: async () => child("hermes", "chat/gpt-4.1", { name: "hermes", path }),
      };
    },
  },
  {
    name: "openclaw",
    install() {
      const folder = fromNpm(join(CACHE, "openclaw"), { openclaw: "2026.9.6" });
      const node = findNode(24, "OpenClaw");
      let started: Promise<RealGateway> | undefined;
      // One daemon for everything: nobody who drives it starts or stops it.
      const gateway = () => {
        started ??= startRealGateway(node, join(folder, "node_modules/openclaw/openclaw.mjs"));
        return started;
      };
      return {
        openStage: async () => openRealClawStage(await gateway()),
        async body() {
          const { port, token, work, model } = await gateway();
          return { runtime: "openclaw", daemon: { settings: { gateway: { port, auth: { token } } }, work, model } };
        },
      };
    },
  },
];

function child(runtime: string, model: string, program: { name: string; path: string }): RealBody {
  return { runtime, model, program };
}
