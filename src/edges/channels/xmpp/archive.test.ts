import { expect, it } from "vitest";
import { pretend } from "../../../../test/support/pretend.ts";
import { Archive } from "./archive.ts";
import { NS, type Xml, type XmppClient, type XmppLibrary } from "./library.ts";

/** As much of a stanza as the archive looks at. */
function stanza(name: string, attrs: Record<string, string>, ...children: Xml[]): Xml {
  const found = (wanted: string) => children.find((child) => pretend<{ name: string }>(child).name === wanted);
  return pretend<Xml>({ name, attrs, children, getChild: found });
}

it("a server that answers one question for ever fills no memory", async () => {
  let queryid = "";
  let end!: (answer: Xml) => void;
  const client = pretend<XmppClient>({
    iqCaller: {
      request: (iq: { children: { attrs: { queryid: string } }[] }) => {
        queryid = iq.children[0]!.attrs.queryid;
        return new Promise<Xml>((resolve) => {
          end = resolve;
        });
      },
    },
  });
  const xml = pretend<XmppLibrary["xml"]>((name: string, attrs: Record<string, string>, ...children: Xml[]) =>
    stanza(name, attrs, ...children),
  );
  const archive = new Archive(client, xml);
  const page = archive.ask({});
  for (let i = 0; i < 5000; i++) {
    const forwarded = stanza("forwarded", { xmlns: NS.forward }, stanza("message", {}));
    archive.take(stanza("message", {}, stanza("result", { queryid, id: `${i}` }, forwarded)), () => true);
  }
  end(stanza("iq", {}, stanza("fin", { complete: "true" })));
  const told = await page;
  expect(told?.items).toHaveLength(500);
  expect(told).toMatchObject({ last: "499", isComplete: false });
});
