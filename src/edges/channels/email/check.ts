/** Whether both servers let us in, and whether `authserv` names the server that judges incoming mail. */
import type { ImapFlow } from "imapflow";
import { truthy } from "../../../core/kit/index.ts";
import { askAside } from "./connection.ts";
import { findHeader, parseHeaders, parseResults } from "./headers.ts";
import { failure, makeTransport } from "./smtp.ts";
import type { EmailState } from "./state.ts";

export async function check(
  state: EmailState,
  signal: AbortSignal,
): Promise<{ id: string; name: string; note?: string }> {
  const { config, library } = state;
  const transport = makeTransport(await library<typeof import("nodemailer")>("nodemailer"), config);
  const note = await askAside(state, (client) => checkMailbox(state, client), signal);
  await transport.verify().catch((error: unknown) => {
    throw failure(error);
  });
  return { id: config.address, name: config.address, ...truthy({ note }) };
}

async function checkMailbox({ config }: EmailState, client: ImapFlow): Promise<string | undefined> {
  const box = await client.mailboxOpen(config.mailbox, { readOnly: true });
  if (!config.authenticate) return "The From line is believed as it stands: anyone can write as anyone.";
  const query = { headers: ["authentication-results"] };
  const last = (box.exists ? await client.fetchOne("*", query) : undefined) || undefined;
  const said = findHeader(parseHeaders(last?.headers || ""), "authentication-results");
  const by = said === undefined ? undefined : parseResults(said).by;
  if (by === undefined || config.authserv.some((name) => name.toLowerCase() === by)) return undefined;
  return `The newest mail was checked by "${by}", which authserv doesn't list.`;
}
