/** The server's archive (XEP-0313): what was said while we were away, and what of ours is there. */

import { truthy } from "../../../core/kit/index.ts";
import { NS, type Xml, type XmppClient, type XmppLibrary } from "./library.ts";

const PAGE = 50;
/** The most messages kept of one answer, however many the server sends; a page asks for far fewer. */
const MOST_ITEMS = 500;
const PATIENCE_MS = 20_000;

export interface Archived {
  /** The archive's own id for the message, which is its stanza-id. */
  id: string;
  message: Xml;
  at: number | undefined;
}

export interface ArchivePage {
  items: Archived[];
  last: string | undefined;
  isComplete: boolean;
  /** The archive no longer has the message that was to be read on from. */
  isLost?: true;
}

export interface ArchiveQuery {
  /** A room's archive; without it, our own. */
  room?: string | undefined;
  after?: string;
  /** Only what was said since then. */
  since?: number | undefined;
  /** The newest ones instead. */
  newest?: number;
  with?: string;
}

export class Archive {
  private readonly client: XmppClient;
  private readonly xml: XmppLibrary["xml"];
  private readonly open = new Map<string, Archived[]>();
  private n = 0;

  constructor(client: XmppClient, xml: XmppLibrary["xml"]) {
    this.client = client;
    this.xml = xml;
  }

  /** True when the stanza was an answer of the archive. `ours`: who may give one, us and our rooms. */
  take(stanza: Xml, ours: (from: string | undefined) => boolean): boolean {
    const result = stanza.getChild("result", NS.mam);
    if (!result) return false;
    const items = this.open.get(result.attrs.queryid ?? "");
    // Anybody can send such a stanza: only answers to our questions count, and only from whom we asked.
    if (!items || !ours(stanza.attrs.from)) return true;
    const forwarded = result.getChild("forwarded", NS.forward);
    const message = forwarded?.getChild("message");
    const stamp = forwarded?.getChild("delay", NS.delay)?.attrs.stamp;
    // A server that never stops answering must not fill our memory.
    if (message && result.attrs.id && items.length < MOST_ITEMS)
      items.push({ id: result.attrs.id, message, at: stamp ? Date.parse(stamp) : undefined });
    return true;
  }

  /** Undefined where there is no archive. */
  async ask(asked: ArchiveQuery): Promise<ArchivePage | undefined> {
    const { xml } = this;
    const queryid = `q${++this.n}`;
    const items: Archived[] = [];
    this.open.set(queryid, items);
    try {
      const field = (name: string, value: string) => xml("field", { var: name }, xml("value", {}, value));
      const form = xml(
        "x",
        { xmlns: NS.form, type: "submit" },
        field("FORM_TYPE", NS.mam),
        ...(asked.with ? [field("with", asked.with)] : []),
        ...(asked.since === undefined ? [] : [field("start", new Date(asked.since).toISOString())]),
      );
      const set = xml(
        "set",
        { xmlns: NS.rsm },
        xml("max", {}, String(asked.newest ?? PAGE)),
        ...(asked.newest === undefined ? [] : [xml("before")]),
        ...(asked.after === undefined ? [] : [xml("after", {}, asked.after)]),
      );
      const query = xml("query", { xmlns: NS.mam, queryid }, form, set);
      const iq = xml("iq", { type: "set", ...truthy({ to: asked.room }) }, query);
      const answer = await this.client.iqCaller.request(iq, PATIENCE_MS);
      const fin = answer.getChild("fin", NS.mam);
      // The next question asks for what was not kept.
      if (items.length >= MOST_ITEMS) return { items, last: items.at(-1)!.id, isComplete: false };
      const last = fin?.getChild("set", NS.rsm)?.getChildText("last") ?? items.at(-1)?.id;
      return { items, last: last ?? undefined, isComplete: fin?.attrs.complete === "true" || items.length === 0 };
    } catch (error) {
      const condition = (error as { condition?: string }).condition;
      if (condition === "item-not-found") return { items: [], last: undefined, isComplete: true, isLost: true };
      if (condition === "service-unavailable" || condition === "feature-not-implemented" || condition === "forbidden")
        return undefined;
      throw error;
    } finally {
      this.open.delete(queryid);
    }
  }
}
