import type { Records, ToolCaller, Tx } from "../../core/contracts/index.ts";
import {
  answerIds,
  asId,
  PULLED,
  type ReplyRoute,
  type SessionKey,
  scopeKeys,
  type TurnId,
} from "../../core/domain/index.ts";
import type { Outbox } from "./outbox.ts";
import { answerInstead, noChannel, ON_ITS_WAY } from "./words.ts";

/** Where files that are sent along are kept. */
interface SentFiles {
  put(body: AsyncIterable<Uint8Array>, about: { name: string; by: string; ours: true }): Promise<{ id: string }>;
  /** They stay as long as the session does. */
  keepFor(tx: Tx, ids: readonly string[], session: SessionKey): void;
}

interface Sent {
  key: string;
  caller: ToolCaller;
  route: ReplyRoute;
  text: string;
  files: { name: string; content: Uint8Array }[];
}

/** What the `message` tool needs: it sends through the outbox, files first. */
export function makeMessagePort(parts: {
  records: Records;
  outbox: Pick<Outbox, "intend" | "wake">;
  attachments: SentFiles;
  /** Whether there is such an account. */
  exists: (route: ReplyRoute) => boolean;
  startedAt: (turn: TurnId) => Promise<number | undefined>;
}) {
  const { records, outbox, attachments, exists } = parts;
  return {
    startedAt: (turn: string) => parts.startedAt(asId<TurnId>(turn)),
    refuses: (route: ReplyRoute) =>
      PULLED.has(route.channel) || exists(route) ? undefined : noChannel(route.channel, route.account),
    async send({ key, caller, route, text, files }: Sent) {
      const [turn, session] = [asId<TurnId>(caller.turn), asId<SessionKey>(caller.session)];
      const by = scopeKeys.agent(caller.agent);
      const put = async (f: { name: string; content: Uint8Array }) =>
        (await attachments.put(once(f.content), { name: f.name, by, ours: true })).id;
      const ids: string[] = [];
      for (const file of files) ids.push(await put(file));
      await records.write((tx) => {
        attachments.keepFor(tx, ids, session);
        const what = text || files.map((f) => f.name).join(", ");
        outbox.intend(tx, { answer: answerIds.sent(turn, key), turn, session, route, text: what, files: ids });
      });
      await outbox.wake(turn);
      if (!PULLED.has(route.channel) && exists(route)) return ON_ITS_WAY;
      return answerInstead(files.map((f, i) => `[${f.name}](/attachments/${ids[i]})`));
    },
  };
}

async function* once(content: Uint8Array): AsyncIterable<Uint8Array> {
  yield content;
}
