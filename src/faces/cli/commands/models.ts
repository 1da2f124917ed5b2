/** `lares models list`: who can answer, and why each is here. */
import type { Action } from "../context.ts";
import { EXIT } from "../exit.ts";
import { count } from "../format.ts";
import { table } from "../output.ts";
import { commonWords } from "../words/common.ts";
import { modelWords as words } from "../words/set-up.ts";

export const list: Action = async ({ rpc, out }) => {
  const { models, primary } = await rpc.call("models.list", {});
  out.items(models.map((m) => ({ ...m, primary: m.id === primary })));
  const main = models.find((m) => m.id === primary);
  out.say(
    main?.practice ? words.none : words.some(primary, models.length),
    ...table(
      models.map((m) => [
        m.id === primary ? out.paint("●", "ok") : " ",
        m.id,
        words.window(count(m.contextWindow)),
        showPrice(m),
        m.because,
      ]),
      "  ",
    ),
  );
  return EXIT.done;
};

function showPrice(m: { practice: boolean; price: { input: number; output: number } | null }): string {
  if (m.practice) return "free";
  if (!m.price) return commonWords.priceUnknown;
  if (!m.price.input && !m.price.output) return "local";
  return words.price(m.price.input, m.price.output);
}
