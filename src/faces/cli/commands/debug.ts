/** `lares debug crash-points`: the catalogue of places where a test can end the process. */
import { CRASH_POINTS } from "../../../core/kit/index.ts";
import type { Action } from "../context.ts";
import { EXIT } from "../exit.ts";
import { table } from "../output.ts";

export const crashPoints: Action = async ({ out }) => {
  const points = Object.entries(CRASH_POINTS);
  out.items(points.map(([point, about]) => ({ point, about })));
  out.say(...table(points));
  return EXIT.done;
};
