/** `lares sessions export` and `import`: a conversation as JSON Lines, one message a line. */
import { truthy } from "../../../core/kit/index.ts";
import type { HistoryMessage } from "../../../core/protocol/index.ts";
import type { Action } from "../context.ts";
import { EXIT, usage } from "../exit.ts";
import { readGiven } from "../read-all.ts";
import { sessionWords as words } from "../words/talk.ts";
import { writeOutput } from "../write-output.ts";
import { suggestNearSession } from "./sessions.ts";

export const exportSession: Action = async (ctx, [session = ""]) => {
  const { rpc, out, options } = ctx;
  const { lines } = await suggestNearSession(ctx, session, () => rpc.call("sessions.export", { session }));
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  if (options.output === undefined || options.output === "-") {
    out.raw(text);
    return EXIT.done;
  }
  const file = await writeOutput(options.output, text);
  out.document({ session, messages: lines.length, file });
  out.note(words.written(lines.length, file));
  return EXIT.done;
};

export const importSession: Action = async (ctx, [file = ""]) => {
  const { rpc, out, options, ports } = ctx;
  const text = await readGiven(file, ports.stdin, out.note);
  const lines = parseLines<HistoryMessage>(text, file === "-" ? "stdin" : file, {
    empty: words.emptyHint,
  });
  const done = await rpc.call("sessions.import", {
    lines,
    ...truthy({ session: options.session, agent: options.agent }),
  });
  out.document(done);
  const again = done.skipped ? words.alreadyHere(done.skipped) : "";
  out.say(words.imported(done.imported, done.session, again));
  return EXIT.done;
};

export function parseLines<T>(text: string, from: string, hint: { empty: string }): T[] {
  const found: T[] = [];
  for (const [i, line] of text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .entries()) {
    if (!line.trim()) continue;
    try {
      found.push(JSON.parse(line) as T);
    } catch {
      throw usage(words.notJson(i, from), words.notJsonHint);
    }
  }
  if (!found.length) throw usage(words.empty(from), hint.empty);
  return found;
}
