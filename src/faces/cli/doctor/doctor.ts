/** `lares doctor`: looks at everything that can be wrong, and says the fix. Changes nothing; works when nothing runs. */
import { AppError } from "../../../core/domain/index.ts";
import { defined } from "../../../core/kit/index.ts";
import type { Result } from "../../../core/protocol/index.ts";
import { homeFileProblem, loadConfig } from "../../../ground/config/index.ts";
import { adviceNow } from "../advice.ts";
import type { Action, Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { oneLine, type Tone, visible } from "../format.ts";
import { table } from "../output.ts";
import { commonWords } from "../words/common.ts";
import { doctorWords as words } from "../words/doctor.ts";
import { bad, type Check, type DoctorGround, type Finding } from "./check.ts";
import { database, files, home, log, owner } from "./home.ts";
import { browser, clock, disk, node, sandbox } from "./machine.ts";
import { config, heartbeat, model, port } from "./reach.ts";
import { realMachine } from "./real.ts";

/** In the order in which one thing needs the other. */
export const CHECKS: readonly Check[] = [
  node,
  home,
  files,
  disk,
  clock,
  config,
  database,
  log,
  owner,
  port,
  model,
  sandbox,
  browser,
  heartbeat,
];

const MARKS: Readonly<Record<Finding["level"], { glyph: string; tone: Tone }>> = {
  ok: { glyph: "✓", tone: "ok" },
  warn: { glyph: "!", tone: "wait" },
  bad: { glyph: "✕", tone: "fail" },
  off: { glyph: "–", tone: "dim" },
};

/** A gateway that hangs must not hold the one who asks what is wrong. */
const STATUS_MS = 2000;

export const doctor: Action = async (ctx) => {
  const { out, ports } = ctx;
  const status = await askStatus(ctx);
  const found = await examine({
    home: ctx.home,
    env: ports.env,
    machine: realMachine(ctx.clock.now()),
    schema: () => ports.configSchema(),
    advice: (config) => adviceNow(ctx, config),
    examined: once(async () => ports.examineHome(ctx.home, await settings(ctx))),
    status: status.result,
    ...defined({ answersAt: status.answersAt }),
  });
  if (status.finding) found.push({ id: "gateway", what: "gateway", ...status.finding });
  const wrong = found.filter((f) => f.level === "bad").length;
  const unsure = found.filter((f) => f.level === "warn").length;
  out.document({ ok: wrong === 0, running: (status.result ?? status.answersAt) !== undefined, checks: found });
  out.say(words.verdict(wrong, unsure), ...shown(ctx, found));
  return wrong ? EXIT.failed : EXIT.done;
};

/** Two checks want the same; it is tried once. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => (result ??= work());
}

/** The settings where they hold; another check says why they don't. */
async function settings({ home, ports }: Context): Promise<Readonly<Record<string, unknown>>> {
  const schema = await ports.configSchema();
  return loadConfig({ home, schema, env: ports.env.variables }).then(
    ({ config: all }) => all as Readonly<Record<string, unknown>>,
    () => ({}),
  );
}

export type Examined = Finding & Pick<Check, "id" | "what">;

export async function examine(at: DoctorGround, checks: readonly Check[] = CHECKS): Promise<Examined[]> {
  const hasHome = homeFileProblem(at.home) === undefined;
  const all = await Promise.all(
    checks.map(async (check): Promise<Examined[]> => {
      // Nothing was looked at, so nothing is said to be fine.
      if (check.needsHome && !hasHome) return [];
      // A check that fails says so; the others are what the person came for.
      const found = await check
        .run(at)
        .catch((error: Error) => bad(words.notChecked(oneLine(error.message)), words.asJson));
      return [found].flat().map((finding) => ({ id: check.id, what: check.what, ...finding }));
    }),
  );
  return all.flat();
}

interface Asked {
  result?: Result<"status">;
  finding?: Finding;
  /** It answered, though not with its state. */
  answersAt?: string;
}

async function askStatus(ctx: Context): Promise<Asked> {
  try {
    return { result: await ctx.rpc.call("status", {}, AbortSignal.timeout(STATUS_MS)) };
  } catch (error) {
    if (!(error instanceof AppError)) {
      const text = commonWords.noAnswerWithin(STATUS_MS);
      return { finding: { level: "bad", text, fix: words.checkLog } };
    }
    // Not running is nothing wrong; the line about the port says so. Without a token nothing can be asked.
    const found = error.code === "GATEWAY_DOWN" ? undefined : await ctx.find().catch(() => undefined);
    if (!found) return {};
    const isHeard = error.code === "NOT_READY" && error.details?.reason !== "silent";
    const finding = bad(oneLine(error.message), error.hint ?? words.status);
    return { finding, ...(isHeard ? { answersAt: found.url } : {}) };
  }
}

function shown({ out }: Context, found: readonly Examined[]): string[] {
  const rows = table(
    found.map((f) => {
      const { glyph, tone } = MARKS[f.level];
      return [out.paint(glyph, tone), f.what, out.ours(oneLine(f.text))];
    }),
    "  ",
  );
  return found.flatMap((f, i) => {
    const below = [...(f.more ?? []).map(visible), ...(f.fix ? [out.paint(`→ ${out.ours(f.fix)}`, "dim")] : [])];
    return [rows[i]!, ...below.map((line) => `      ${line}`)];
  });
}
