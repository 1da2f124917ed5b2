/** What `lares gateway run` and `lares dashboard` say. */
import type { Hint } from "../output.ts";

export const gatewayWords = {
  openLink: (until: string) => `Open it in a browser. It works once, until ${until}.`,
  stopping: "Stopping. Running work continues at the next start. Press Ctrl-C again to quit now.",
  stopped: "Stopped.",
  running: (mark: string) => `${mark} Lares is running.`,
  chat: (hint: Hint) => hint`lares chat`,
  model: (practice: boolean, id: string, because: string) => `${practice ? "the practice model" : id} (${because})`,
};
