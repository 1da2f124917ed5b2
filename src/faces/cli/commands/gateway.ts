/** `lares gateway run`: start, six lines, wait for a signal, stop so that nothing is lost. */

import { defined } from "../../../core/kit/index.ts";
import type { Action, Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { table } from "../output.ts";
import type { RunningGateway } from "../ports.ts";
import { gatewayWords as words } from "../words/run.ts";

export const run: Action = async (ctx) => {
  const { options, out, ports } = ctx;
  const signals = listen(ctx);
  try {
    const gateway = await ports.runGateway({
      home: ctx.home,
      ...defined({ port: options.port, bind: options.bind, exposed: options.exposed || undefined }),
    });
    tell(ctx, gateway);
    const ended = await Promise.race([gateway.done, signals.first]);
    if (ended !== "signal") return ended;
    out.note(words.stopping);
    const stopped = await Promise.race([gateway.stop().then(() => "stopped" as const), signals.second]);
    if (stopped === "signal") return EXIT.interrupted;
    out.note(words.stopped);
    return EXIT.done;
  } finally {
    signals.close();
  }
};

function tell(ctx: Context, gateway: RunningGateway): void {
  const { out } = ctx;
  const { url, home, model, tokenFile } = gateway;
  out.document({ url, home, model, tokenFile, pid: process.pid });
  if (out.quiet) return;
  out.say(
    words.running(out.paint("●", "ok")),
    ...table(
      [
        // Signs in once; for programs the plain address with a token.
        ["Link", gateway.loginUrl?.() ?? url],
        ["Model", modelLine(model)],
        ["Home", home],
        ["Stop", "Ctrl-C"],
        ["Next", words.chat(out.hintElsewhere)],
      ],
      "  ",
    ),
  );
}

/** Who answers, and why. */
export function modelLine(model: RunningGateway["model"]): string {
  return words.model(model.practice, model.id, model.because);
}

function listen(ctx: Context) {
  let count = 0;
  let one!: (what: "signal") => void;
  let two!: (what: "signal") => void;
  const first = new Promise<"signal">((resolve) => {
    one = resolve;
  });
  const second = new Promise<"signal">((resolve) => {
    two = resolve;
  });
  const heard = () => (++count === 1 ? one("signal") : two("signal"));
  const off = [ctx.onSignal("SIGINT", heard), ctx.onSignal("SIGTERM", heard)];
  return { first, second, close: () => off.forEach((stop) => void stop()) };
}
