/**
 * Notices that a file changed, however it was saved: written in place, or replaced by rename as editors do. It looks at
 * the file's number, size and time once a second instead of listening to the folder: the folder also holds the database,
 * whose every commit would be news.
 *
 * CONFIG-7: a change counts when the file has been the same for two looks in a row: nobody reads half a save.
 */
import { stat } from "node:fs/promises";

export interface FileWatch {
  /** Looks at once instead of at the next second; resolves when a change was dealt with. */
  look(): Promise<void>;
  stop(): void;
}

const LOOK_MS = 1000;
const SETTLE_MS = 100;

export function watchFile(file: string, changed: () => Promise<void>, everyMs = LOOK_MS): FileWatch {
  // Unknown at first, so the first look counts as a change: the file may have changed since it was read.
  let known: string | undefined;
  let busy: Promise<void> | undefined;
  let stopped = false;
  const look = async (): Promise<void> => {
    let print = await fingerprint(file);
    if (print === known || stopped) return;
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      const again = await fingerprint(file);
      if (again === print) break;
      print = again;
    }
    known = print;
    if (!stopped) await changed();
  };
  const once = (): Promise<void> => {
    busy ??= look().finally(() => {
      busy = undefined;
    });
    return busy;
  };
  const timer = setInterval(() => void once().catch(() => {}), everyMs);
  timer.unref();
  return {
    async look() {
      // A look that is under way may have begun before the change that the caller made.
      await busy?.catch(() => {});
      return once();
    },
    stop() {
      stopped = true;
      clearInterval(timer);
    },
  };
}

async function fingerprint(file: string): Promise<string> {
  try {
    const found = await stat(file, { bigint: true });
    return `${found.ino} ${found.size} ${found.mtimeNs}`;
  } catch {
    return "none";
  }
}
