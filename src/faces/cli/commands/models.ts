/** `lares models list`: who can answer, and why each is here. */
import type { Action } from "../context.ts";
import { EXIT } from "../exit.ts";
import { count, plural } from "../format.ts";
import { table } from "../output.ts";

export const list: Action = async ({ rpc, out }) => {
  const { models, primary } = await rpc.call("models.list", {});
  out.items(models.map((m) => ({ ...m, primary: m.id === primary })));
  const main = models.find((m) => m.id === primary);
  out.say(
    main?.practice
      ? "No model is connected, so Lares uses the practice model: rules, not a language model."
      : `${primary} answers; ${plural(models.length, "model")} can.`,
    ...table(
      models.map((m) => [
        m.id === primary ? out.paint("●", "ok") : " ",
        m.id,
        `${count(m.contextWindow)} tokens`,
        priceOf(m),
        m.because,
      ]),
      "  ",
    ),
  );
  return EXIT.done;
};

function priceOf(m: { practice: boolean; price: { input: number; output: number } | null }): string {
  if (m.practice) return "free";
  if (!m.price) return "price unknown";
  if (!m.price.input && !m.price.output) return "local";
  return `$${m.price.input} in, $${m.price.output} out per 1M`;
}
