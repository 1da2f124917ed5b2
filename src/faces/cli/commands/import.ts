/** `lares import`: moving in from another system, item by item, with a dry run first. */
import { resolve } from "node:path";
import type { Result } from "../../../core/protocol/index.ts";
import type { Action } from "../context.ts";
import { EXIT } from "../exit.ts";
import { oneLine, plural } from "../format.ts";
import { table } from "../output.ts";

type Item = Result<"import.run">["items"][number];

const SIGN: Record<Item["state"], string> = { new: "+", "there already": "=", "left out": "-", failed: "!" };

const importFrom =
  (from: "openclaw" | "hermes"): Action =>
  async ({ rpc, out, options }, [dir = ""]) => {
    const { items, dryRun } = await rpc.call("import.run", {
      from,
      dir: resolve(dir),
      ...(options.dryRun ? { dryRun: true } : {}),
      ...(options.withSecrets ? { secrets: true } : {}),
    });
    out.items(items);
    const count = (state: Item["state"]) => items.filter((item) => item.state === state).length;
    out.say(
      ...table(
        items.map((item) => [
          SIGN[item.state],
          item.what,
          oneLine(item.name),
          item.becomes ? `→ ${item.becomes}` : "",
          item.why ? out.paint(item.why, "dim") : "",
        ]),
        "  ",
      ),
      `${plural(items.length, "item")}: ${count("new")} ${dryRun ? "would be taken" : "taken"}, ${count("there already")} there already, ${count("left out")} left out${count("failed") ? `, ${count("failed")} failed` : ""}.`,
      ...(dryRun ? ["Nothing was changed. Leave --dry-run away to do it."] : []),
    );
    return count("failed") ? EXIT.failed : EXIT.done;
  };

export const openclaw = importFrom("openclaw");
export const hermes = importFrom("hermes");
