/** The scripted model server beside a Lares under test, in this process or as one of its own. */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import {
  envelopeOf,
  type ModelServer,
  type SeenRequest,
  startModelServer,
  textOf,
} from "../fakes/model-server/index.ts";

/** What a Lares needs to use this server as Anthropic. */
export function modelEnv(url: string): Record<string, string> {
  return { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "test-key-of-the-scripted-model" };
}

/** `keep: false`: the requests are not kept, for runs that make tens of thousands. */
export async function startModel(
  options: { keep?: boolean } = {},
): Promise<ModelServer & { env: Record<string, string> }> {
  const server = await startModelServer(options);
  return Object.assign(server, { env: modelEnv(server.url) });
}

export interface ModelProcess {
  url: string;
  env: Record<string, string>;
  stop(): Promise<void>;
}

/** The same server as a process of its own, which outlives every kill of the program. `log` gets one JSON line a request. */
export async function spawnModel(log?: string, full = false): Promise<ModelProcess> {
  const main = fileURLToPath(new URL("../fakes/model-server/main.ts", import.meta.url));
  const tsx = createRequire(import.meta.url).resolve("tsx");
  const args = ["--import", tsx, main, ...(log ? ["--log", log] : []), ...(full ? ["--full"] : [])];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise<string>((resolve, reject) => {
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString("utf8");
      const match = /model server on (\S+)/.exec(said);
      if (match) resolve(match[1]!);
    });
    child.once("exit", (code) => reject(new Error(`the model server ended with ${code}: ${said}`)));
  });
  return {
    url,
    env: modelEnv(url),
    stop: () =>
      new Promise((resolve) => {
        child.once("exit", () => resolve());
        child.kill("SIGTERM");
      }),
  };
}

/** The user texts of a request, in order. */
export function userTexts(request: SeenRequest): string[] {
  return request.messages.filter((m) => m.role === "user").map(textOf);
}

/** The lines Lares put before the messages of a request, in order. */
export function envelopes(request: SeenRequest): string[] {
  return request.messages.flatMap((message) => envelopeOf(message) ?? []);
}

/** The tool results of a request, in order. */
export function toolResults(request: Pick<SeenRequest, "messages">): { text: string; isError: boolean }[] {
  return request.messages.flatMap((m) =>
    m.parts.flatMap((part) =>
      part.type === "tool-result" ? [{ text: part.text, isError: part.isError ?? false }] : [],
    ),
  );
}

/** The requests in which a user text contains this. */
export function requestsWith(server: { requests: SeenRequest[] }, text: string): SeenRequest[] {
  return server.requests.filter((request) => userTexts(request).some((one) => one.includes(text)));
}
