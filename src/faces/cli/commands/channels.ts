/** `lares channels`: where people talk to it, and whether that works. */
import type { Action, Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { oneLine, plural } from "../format.ts";
import { table } from "../output.ts";

export const list: Action = async ({ rpc, out }) => {
  const { channels } = await rpc.call("channels.list", {});
  out.items(channels);
  const failed = channels.filter((c) => isFailed(c.state)).length;
  out.say(
    channels.length
      ? `${plural(channels.length, "channel")}${failed ? `, ${failed} failed` : ""}.`
      : "No channel is connected. What there is: lares config explain channels",
    ...table(
      channels.map((c) => [mark(c.state, out.paint), c.name, c.detail ? oneLine(c.detail) : ""]),
      "  ",
    ),
  );
  return EXIT.done;
};

export const status: Action = async ({ rpc, out }, [name = ""]) => {
  const c = await rpc.call("channels.status", { name });
  out.document(c);
  const { waiting, sent, uncertain, failed } = c.deliveries;
  const rows = [
    ["deliveries", `${sent} sent, ${waiting} on the way, ${uncertain} not confirmed, ${failed} failed`],
    ...(c.lastError ? [["last error", oneLine(c.lastError)]] : []),
  ];
  out.say(`${mark(c.state, out.paint)}: ${c.name}${c.detail ? `, ${oneLine(c.detail)}` : ""}`, ...table(rows, "  "));
  return isFailed(c.state) ? EXIT.failed : EXIT.done;
};

function isFailed(state: string): boolean {
  return /fail|error|dead|refused/i.test(state);
}

function mark(state: string, paint: Context["out"]["paint"]): string {
  if (isFailed(state)) return paint(`✕ ${state}`, "fail");
  return /^(running|connected|ready|up|ok)$/.test(state) ? paint(`● ${state}`, "ok") : `○ ${state}`;
}
