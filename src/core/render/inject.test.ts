/** No text becomes a mention, a tag, a command, a control code, or a link to another place than it shows. */
import { describe, expect, test } from "vitest";
import { DIALECTS, type DialectName, parse, render } from "./index.ts";

const sent = (text: string, name: DialectName, mentions?: ReadonlySet<string>) =>
  render(parse(text), name, { mentions })
    .map((part) => part.html ?? part.text)
    .join("\n");

/** What a dialect's text says to a person: unseen signs out, references back. */
const read = (text: string) =>
  text.replaceAll("\u200b", "").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

describe("mentions", () => {
  test.each<[DialectName, string, RegExp]>([
    ["slack", "<!channel> <!here> <@U12345> <#C12345> <!subteam^S1>", /<[!@#]/],
    ["slack", "`<!channel>` and\n```\n<!everyone>\n```", /<[!@#]/],
    ["slack", "[x](<!channel>) [<!channel>](https://a.example) ![<@U12345>](https://a.example)", /<[!@#]/],
    ["slack", "[x](https://a.example|<!channel>)", /<[!@#]/],
    [
      "discord",
      "@everyone @here <@1234567890> <@!1234567890> <@&1234567890> x@everyone **@**everyone",
      /@(everyone|here)|<@/,
    ],
    ["discord", "`@everyone`\n```\n@here <@1234567890>\n```", /@(everyone|here)|<@/],
    ["discord", "[@everyone](https://a.example) ![@here](https://a.example)", /@(everyone|here)/],
    ["discord", "https://a.example/@everyone [x](https://a.example/@here)", /@(everyone|here)/],
    ["mattermost", "@all @channel @here @anna **@**all", /(^|[^\w])@\w/],
    ["telegram", "@somebody (@somebody) **@**somebody @**somebody**", /(^|[^\w])@(<\/?b>)*\w/],
    ["telegram", "[x](tg://user?id=42)", /href/],
    [
      "matrix",
      "@room [x](https://matrix.to/#/@anna:example.org) [y](https://matrix.to/#/%40anna:example.org)",
      /href|@room/,
    ],
    ["teams", "<at>Anna</at> @everyone", /<at>|@everyone/],
    ["nostr", "nostr:npub1abc @npub1abc", /(nostr:|@)npub/],
  ])("%s: %s calls nobody", (name, text, called) => {
    expect(sent(text, name)).not.toMatch(called);
  });

  test("matrix: the plain body does not call the room either", () => {
    expect(render(parse("`@room` @room"), "matrix")[0]!.text).not.toContain("@room");
  });

  test("only an id the caller allows is called, and only in the platform's own form", () => {
    const text = "[Anna](mention:U12345) [Ben](mention:U99999) [Eve](mention:U12345><!channel)";
    expect(sent(text, "slack")).toBe("Anna Ben Eve");
    expect(sent(text, "slack", new Set(["U12345", "U12345><!channel"]))).toBe("<@U12345> Ben Eve");
    expect(sent("[Anna](mention:42)", "telegram", new Set(["42"]))).toBe('<a href="tg://user?id=42">Anna</a>');
    expect(sent("[<b>](mention:42)", "telegram", new Set(["42"]))).toBe('<a href="tg://user?id=42">&lt;b&gt;</a>');
    expect(sent("[Anna](mention:anna)", "irc", new Set(["anna"]))).toBe("Anna");
  });

  test("an address stays whole", () => {
    for (const name of DIALECTS) expect(sent("write to anna@b.example now", name)).toContain("anna@b.example");
  });
});

describe("links", () => {
  test.each(DIALECTS)("%s: a link that names another place shows its target (RENDER-6)", (name) => {
    for (const label of [
      "https://bank.example",
      "bank.example",
      "**bank.example**/login",
      "bank\u200b.example",
      "Go to www.bank.example now",
    ]) {
      const text = read(sent(`[${label}](https://evil.example/x)`, name));
      expect(
        text
          .replace(/href="[^"]*"/g, "")
          .replace(/<https:[^>|]*\|/g, "")
          .replace(/\]\([^)]*\)/g, "]"),
        label,
      ).toContain("https://evil.example/x");
    }
  });

  test("an honest link stays one", () => {
    expect(sent("[docs](https://a.example/x)", "slack")).toBe("<https://a.example/x|docs>");
    expect(sent("[a.example](https://docs.a.example/x)", "slack")).toBe("<https://docs.a.example/x|a.example>");
    expect(sent("[README.md](https://a.example/README.md)", "slack")).toBe("<https://a.example/README.md|README.md>");
  });

  test.each(DIALECTS)("%s: only web and mail addresses are targets (RENDER-7)", (name) => {
    for (const url of [
      "javascript:alert(1)",
      "JaVaScRiPt:alert(1)",
      "data:text/html,x",
      "file:///etc/passwd",
      "tg://resolve?domain=x",
      "vbscript:x",
    ]) {
      const text = sent(`[x](${url}) ![y](${url}) <${url}>`, name);
      expect(text).not.toMatch(/href|\]\(|\|x>/);
    }
  });

  test("a target cannot leave its place", () => {
    expect(sent('[x](https://a.example/"onmouseover="y)', "email")).toBe(
      '<p><a href="https://a.example/%22onmouseover=%22y">x</a></p>',
    );
    expect(sent("[x](<https://a.example/) [y](https://b.example>)", "discord")).not.toMatch(/(?<!\\)\]\(https:\/\/b/);
    expect(sent("[x|y>z](https://a.example/|q)", "slack")).toBe("<https://a.example/%7Cq|x¦y&gt;z>");
  });
});

describe("tags and codes", () => {
  test.each<DialectName>(["telegram", "matrix", "email", "teams"])("%s: text makes no tag, also in code", (name) => {
    const text = sent(
      '<script>x</script> `<img src=x>`\n\n```"><b>\n</code></pre><b>\n```\n\n| <i> | b |\n|--|--|\n| <u> | </td> |',
      name,
    );
    expect(text).not.toMatch(/<(script|img|i|u)\b/);
    expect(text.match(/<\/td>/g)?.length ?? 0).toBe(text.match(/<td/g)?.length ?? 0);
    expect(text.match(/<\/pre>/g)?.length).toBe(text.match(/<pre/g)?.length);
  });

  test.each(DIALECTS)("%s: no control code of the text arrives (RENDER-8)", (name) => {
    const text = sent("a\x02b\x03c\x0fd\x1be\0f\rQUIT :x\u202eg\u2066h\ufdd0i\u0085j", name);
    expect(text).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef]/);
  });

  test("irc: what a line end would begin is a message of its own, never a command", () => {
    expect(render(parse("hi\r\nQUIT :bye\rJOIN #x"), "irc").map((part) => part.text)).toEqual([
      "hi",
      "QUIT :bye",
      "JOIN #x",
    ]);
  });

  test.each<[DialectName, string]>([
    ["discord", "# a\n\\# b \\*c\\* \\`d\\` \\> e \\- f \\|\\|g\\|\\|"],
    ["commonmark", "\\# b \\*c\\* \\_d\\_ \\`e\\` \\<b\\> \\[x\\](y) \\&amp; \\~~z\\~~"],
  ])("%s: what was text in the answer is text there", (name, text) => {
    const again = render(parse(sent(text, name)), "plain")[0]!.text;
    expect(again).toBe(render(parse(text), "plain")[0]!.text);
  });

  test.each<[DialectName, RegExp]>([
    ["slack", /(^|\s)\*\S[^*]*\*/m],
    ["whatsapp", /(^|\s)\*[^\s\u200b][^*]*\*/m],
    ["xmpp", /(^|\s)\*\S[^*]*\*/m],
  ])("%s: stars that are text do not make bold", (name, bold) => {
    expect(sent("\\*not bold\\*", name).replaceAll("*\u200b", "* ")).not.toMatch(bold);
    expect(read(sent("\\*not bold\\*", name))).toBe("*not bold*");
  });

  test.each<DialectName>(["slack", "whatsapp", "xmpp", "discord", "mattermost"])(
    "%s: text at a line's start makes no quote",
    (name) => {
      expect(sent("\\> not a quote", name)).not.toMatch(/^\s*(>|&gt;)/);
    },
  );

  test("a fence in code does not end it", () => {
    for (const name of ["slack", "discord", "whatsapp", "xmpp"] as const) {
      expect(sent("````\n```\n@x\n````", name).split("```").length - 1, name).toBe(2);
    }
    expect(sent("````\n```\n````", "commonmark")).toBe("````\n```\n````");
  });
});
