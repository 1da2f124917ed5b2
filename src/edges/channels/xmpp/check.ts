/** Who we are there, and whether the server has an archive: without one, a crash can lose messages. */
import { defined } from "../../../core/kit/index.ts";
import { Archive } from "./archive.ts";
import { connect } from "./connection.ts";
import type { XmppState } from "./state.ts";

export async function check(
  state: XmppState,
  signal: AbortSignal,
): Promise<{ id: string; name: string; note?: string }> {
  const { client, xml, close } = await connect(state, "lares-check", signal);
  signal.addEventListener("abort", () => void close(), { once: true });
  try {
    const page = await new Archive(client, xml).ask({ newest: 1 });
    const note = page ? undefined : "This server keeps no archive: what is said while Lares is away may be lost.";
    return { id: state.me, name: state.me, ...defined({ note }) };
  } finally {
    await close();
  }
}
