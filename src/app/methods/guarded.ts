/** Methods that read whole folders or files of somebody else's: guarded, so that what stopped Lares twice isn't read a third time. */
import { createHash } from "node:crypto";
import { AppError } from "../../core/domain/index.ts";
import { type Crash, type Guard, guarded, type WorkKey } from "../../core/kit/index.ts";
import type { Handlers } from "../../faces/gateway/index.ts";

export function withGuard(handlers: Handlers, guard: Guard, crash: Crash): Handlers {
  const once = <T>(key: WorkKey, work: () => Promise<T>): Promise<T> =>
    guarded(guard, key, work, async () => {
      // Said once; whoever calls it again after that knows.
      guard.forgive(key);
      throw new AppError("CONFLICT", {
        message: "This import failed twice in a way that stopped Lares, so it wasn't tried again.",
        hint: "Look at what is in it and leave out what could be the reason. To try it once more as it is, run it again.",
      });
    });
  return {
    ...handlers,
    "import.run": (p, caller) =>
      once(`import:${p.from}:${p.dir}`, async () => {
        crash.at("import.reading", () => p.dir);
        return handlers["import.run"](p, caller);
      }),
    "sessions.import": (p, caller) => {
      const ends = JSON.stringify([p.session, p.lines.length, p.lines[0], p.lines.at(-1)]);
      const key: WorkKey = `import:session:${createHash("sha256").update(ends).digest("hex")}`;
      return once(key, async () => handlers["sessions.import"](p, caller));
    },
  };
}
