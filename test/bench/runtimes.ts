/**
 * What the model proxy adds to a call: the same request to the scripted model server directly and through the proxy, in turns, so that
 * both see the same machine. Everything is real: HTTP, budget, ledger on the disk.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startModelServer } from "../fakes/model-server/index.ts";
import { allProviders, FORMATS, openProxyWorld } from "../runtimes/proxy-world.ts";
import { percentile } from "./process.ts";

const CALLS = 400;
/** As long as a coding agent's: instructions, tools, some history. */
const WORDS = "Some words of a longer conversation. ".repeat(4000);
/** Loads what is loaded once. */
const WARM = 40;

export interface ProxyFigures {
  /** ms of a call, directly and through the proxy. */
  direct: number[];
  proxied: number[];
  requestKb: number;
}

export async function benchProxy(): Promise<ProxyFigures> {
  const home = mkdtempSync(join(tmpdir(), "lares-bench-proxy-"));
  const model = await startModelServer({ keep: false, script: () => ({ text: "A short answer.", pieces: 20 }) });
  const budgets = { perDay: { dollars: 1_000_000_000 } };
  const world = await openProxyWorld({ home, models: allProviders(model.url), budgets });
  const { baseUrl, token } = await world.grant();
  const agent = new Agent({ keepAlive: true });
  const { path, headers, body } = FORMATS.anthropic(token, WORDS, true);
  const bytes = Buffer.from(JSON.stringify(body));
  const one = (base: string) =>
    new Promise<number>((resolve, reject) => {
      const start = performance.now();
      const sent = request(`${base}${path}`, { method: "POST", agent, headers }, (answer) => {
        answer.resume();
        answer.on("end", () => resolve(performance.now() - start));
        answer.on("error", reject);
      });
      sent.on("error", reject);
      sent.end(bytes);
    });
  const direct: number[] = [];
  const proxied: number[] = [];
  for (let i = 0; i < CALLS + WARM; i++) {
    const [a, b] = [await one(model.url), await one(baseUrl)];
    if (i < WARM) continue;
    direct.push(a);
    proxied.push(b);
  }
  agent.destroy();
  await world.close();
  await model.close();
  rmSync(home, { recursive: true, force: true });
  return { direct, proxied, requestKb: bytes.length / 1024 };
}

export function sayProxy(f: ProxyFigures): { what: string; seen: string; bar: string; ok?: boolean }[] {
  const added = (p: number) => percentile(f.proxied, p) - percentile(f.direct, p);
  const of = `a call of ${f.requestKb.toFixed(0)} kB`;
  return [
    {
      what: `${of}, directly, p50 / p95`,
      seen: `${percentile(f.direct, 50).toFixed(1)} / ${percentile(f.direct, 95).toFixed(1)} ms`,
      bar: "",
    },
    {
      what: `${of}, added by the model proxy, p50`,
      seen: `${added(50).toFixed(1)} ms`,
      bar: "≤ 3 ms",
      ok: added(50) <= 3,
    },
    { what: `${of}, added by the model proxy, p95`, seen: `${added(95).toFixed(1)} ms`, bar: "" },
  ];
}
