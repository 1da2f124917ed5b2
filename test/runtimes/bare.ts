/** The programs without Lares, each in its own way without a terminal, one turn in one process: what a turn costs at the least. */
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";

export interface BareTurn {
  /** The program by its path. */
  program: string;
  /** Its home and the folder it works in are below. */
  dir: string;
  modelUrl: string;
  text: string;
}

interface BareCommand {
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  stdin: string;
}

const COMMANDS: Readonly<Record<string, (turn: BareTurn & { home: string }) => BareCommand>> = {
  "claude-code": ({ modelUrl, home, text }) => ({
    args: [
      "-p",
      "--verbose",
      "--output-format",
      "stream-json",
      "--setting-sources",
      "",
      "--model",
      "claude-sonnet-4-5",
    ],
    env: {
      CLAUDE_CONFIG_DIR: join(home, "claude"),
      ANTHROPIC_BASE_URL: modelUrl,
      ANTHROPIC_API_KEY: "a-key",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
    },
    stdin: text,
  }),
  codex: ({ modelUrl, home, text }) => {
    const provider = `{ name = "loop", base_url = "${modelUrl}/v1", env_key = "RUN_KEY", wire_api = "responses" }`;
    const set = ["model_provider=loop", `model_providers.loop=${provider}`, "model=scripted"];
    return {
      args: ["exec", "--json", "--skip-git-repo-check", ...set.flatMap((one) => ["-c", one]), "-"],
      env: { CODEX_HOME: home, RUN_KEY: "a-key" },
      stdin: text,
    };
  },
  opencode: ({ modelUrl, home, text }) => ({
    args: ["run", "--format", "json"],
    env: {
      ...Object.fromEntries(["CONFIG", "DATA", "STATE", "CACHE"].map((name) => [`XDG_${name}_HOME`, join(home, name)])),
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        autoupdate: false,
        share: "disabled",
        model: "loop/m",
        small_model: "loop/m",
        enabled_providers: ["loop"],
        provider: {
          loop: {
            npm: "@ai-sdk/openai-compatible",
            options: { baseURL: `${modelUrl}/v1`, apiKey: "a-key" },
            models: { m: {} },
          },
        },
      }),
    },
    stdin: text,
  }),
};

export const BARE = Object.keys(COMMANDS);

/** Ms from its start to its end. */
export async function runBare(runtime: string, turn: BareTurn): Promise<number> {
  const [home, work, tmp] = ["home", "work", "tmp"].map((name) => join(turn.dir, name)) as [string, string, string];
  for (const folder of [home, work, tmp]) mkdirSync(folder, { recursive: true });
  const { args, env, stdin } = COMMANDS[runtime]!({ ...turn, home });
  const path = [dirname(process.execPath), "/usr/bin", "/bin"].join(":");
  const began = performance.now();
  const child = spawn(turn.program, args, {
    cwd: work,
    env: { PATH: path, HOME: home, TMPDIR: tmp, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let said = "";
  const keep = (piece: Buffer) => {
    said = (said + piece.toString("utf8")).slice(-4000);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  child.stdin.end(stdin);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Error(`${runtime} by itself ended with ${code}: ${said}`);
  return performance.now() - began;
}
