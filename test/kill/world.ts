/** What a kill run is made of: the real program, the scripted model as a process of its own, the far sides of two webhooks. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FarSide, Lares, spawnModel, startFarSide } from "../support/index.ts";

export interface World {
  lares: Lares;
  /** Honours Idempotency-Key. */
  far: FarSide;
  /** Shows a message as often as it is sent. */
  plain: FarSide;
  /** Resolves when the program serves. */
  up(): Promise<void>;
  kill(): Promise<void>;
  /** Starts it; with `dieAfterMs` it is killed again on the way. */
  start(dieAfterMs?: number): Promise<void>;
  witness(): string[];
  /** Ids of the messages in each model request of a turn, in order. */
  modelRequests(): string[][];
  dispose(): Promise<void>;
}

export async function openWorld(): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "lares-kill-"));
  const log = join(folder, "model.jsonl");
  const [model, far, plain] = await Promise.all([spawnModel(log), startFarSide(), startFarSide({ dedupes: false })]);
  const lares = new Lares({
    home: join(folder, "home"),
    env: model.env,
    config: {
      // A model that costs nothing, so that no budget ends a long run.
      models: {
        default: "anthropic/scripted",
        providers: { anthropic: { models: { scripted: { price: { input: 0, output: 0 } } } } },
      },
      policy: { mode: "record" },
      agents: { asker: { policy: { mode: "ask" } } },
      gateway: { http: { wait: 0.05 } },
      outbox: { firstRetryMs: 20, mostRetryMs: 200 },
      channels: {
        webhook: {
          hook: { secret: far.secret, url: far.url, dedupes: true },
          plain: { secret: plain.secret, url: plain.url, dedupes: false },
        },
      },
    },
  });
  let up: Promise<void> = Promise.resolve();
  let open = () => {};
  const shut = () => {
    up = new Promise((resolve) => {
      open = resolve;
    });
  };
  shut();
  return {
    lares,
    far,
    plain,
    up: () => up,
    async kill() {
      shut();
      await lares.kill9();
    },
    async start(dieAfterMs) {
      if (dieAfterMs !== undefined) {
        lares.spawn();
        await new Promise((resolve) => setTimeout(resolve, dieAfterMs));
        await lares.kill9();
      }
      await lares.start();
      open();
    },
    witness: () =>
      ["main", "asker"].flatMap((agent) => {
        const file = join(lares.workspace(agent), "witness");
        return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
      }),
    modelRequests: () =>
      readFileSync(log, "utf8")
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as { ids: string[]; tools: number })
        // Without tools it is a look through a part of the conversation for facts, in the background.
        .flatMap(({ ids, tools }) => (tools > 0 ? [ids] : [])),
    async dispose() {
      await lares.kill9();
      await Promise.all([model.stop(), far.close(), plain.close()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
