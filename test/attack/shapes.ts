/** Texts made to be slow to read: what opens and never closes, what can be cut in many ways, what nests. */

export const SIZE = 256 * 1024;
export const QUARTER = SIZE / 4;

const UNITS: readonly string[] = [
  ..."~`*_>#-+=|[]()<>{}'\"\\/&@.:;,!?$%^a0A1e \t\n\0é",
  ..."<!----> <![CDATA[ ]]> <! <a <a> </ </a> <b> <div> <script> <style> <blockquote> <br> <meta <p> </script &amp; &# &lt;".split(
    " ",
  ),
  ..."[a]( ![a]( [[ ]( ![ ]] ** *a *a* **a* __ _a ~~ ~~a `` ```` a* a_ *_ \\` \\* \\\\[ http:// https://a. http://a( a@ @a a.".split(
    " ",
  ),
  ...'/* */ // -- --- ... \\" eyJ- eyJaaaaaaaa. -eyJaaaaaaaa sk- Bearer xoxb- key= -----BEGIN bot1:'.split(" "),
  ..."$( ${ `a $(( (( {a} {a, [a] [!a] **/ */ ?? ../ a/ /a ;; && || << <<a >& run' run( exec( -rm a=b".split(" "),
  "> ",
  "- ",
  "1. ",
  "* ",
  "+ ",
  "# ",
  "- [ ] ",
  "    ",
  "\t- ",
  "  - a\n",
  "> \n",
  ">\n",
  "- a\n",
  "1. a\n",
  "a\n",
  "\n\n",
  "\r\n",
  "\t\n",
  " \n",
  "a\n\n",
  "| a ",
  "|-",
  "| a |\n|-|\n",
  "| a | b |\n",
  "|-|-|\n",
  "```\n",
  "~~~\n",
  "```json\n",
  "---\n",
  "===\n",
  "a\n===\n",
  "a:\n",
  "a: ",
  "a: b\n",
  "- : ",
  "? ",
  "! ",
  "{a: ",
  "[a, ",
  "rm -rf ",
  "run ",
  "python -c '",
  'sh -c "',
  "echo a; ",
  "echo a | ",
  "env -S ",
  "sudo ",
  "a && ",
  "$(a ",
  "a=b ",
  "cat <<E\n",
  "if a; then ",
  "diff --git a b\n",
  "diff --git a ",
  "@@ -1 +1 @@\n",
  "*** Update File: a\n",
  "*** Add File: ",
  "--- a\n+++ b\n",
  "+a\n",
  "-a\n",
  "*** Begin Patch\n",
  "@@\n",
  "On Monday wrote:\n",
  "On a wrote ",
  "From: a\n",
  "Am a schrieb ",
  "-- \n",
  "> a\n",
  "To: a@b.c, ",
  "Received: a\n",
  "=?utf-8?q?a?= ",
  "(a ",
  "1234 <a@",
  "what is ",
  "where work ",
  "who am I ",
  "when ",
  "every ",
  "due ",
  "(when a changes) ",
  "at 1 ",
  "1h ",
  "1 and ",
  "next monday ",
  "I like ",
  "I am ",
  "Remember that ",
  "my name is ",
  "Ana is ",
  "Ana ",
  "A.",
  "A b. ",
  "since ",
  "/a ",
  "/* a",
  '"a": ',
  '"a",',
  "§\n",
  "§ ",
  "export A=",
  "<item>",
  "<item><title>",
  "<entry/>",
  "<link ",
  "<title>a",
  "<rss>",
  "href='",
  "😀",
  "e\u0301",
  "\u200b",
  "\u202e",
  "ＡＢ",
  "漢",
  "\u2028",
  "\u0001",
  "\u001b[",
  "ffffffff-",
  "a-a",
  "+1 ",
  "12:34 ",
  "mailto:a ",
  "a@b.c ",
  "https://a.b/c ",
];

/** What some readers need to see first, and what makes others give up late. */
const PREFIXES: readonly string[] = [
  "",
  "*** Begin Patch\n*** Update File: a\n@@\n",
  "---\n",
  "<rss><channel><item><title>",
  "<html><body>",
  "```json\n",
];
const SUFFIX = " `\u0001x";

export interface Shape {
  name: string;
  /** The shape at about this length. */
  text(size: number): string;
  /** Whether Markdown has characters like it: the many dialects are tried with these only. */
  isMarkdown: boolean;
}

export const SHAPES: readonly Shape[] = [
  ...UNITS.map((unit) =>
    shape(JSON.stringify(unit), (size) => pumped("", unit, size), /[~*_>#|[\]`-]|\n|^[a ]$/.test(unit)),
  ),
  ...PREFIXES.slice(1).flatMap((prefix) =>
    ["<![CDATA[", "<a ", "\n", " ", "+a\n", " a\n", "a: b\n", "{", "- ", "<div>", "@@\n"].map((unit) =>
      shape(`${JSON.stringify(prefix)} ${JSON.stringify(unit)}`, (size) => pumped(prefix, unit, size)),
    ),
  ),
  shape("one word", (size) => "a".repeat(size)),
  shape("emphasis around a letter", (size) => `${"*".repeat(size / 2)}a${"*".repeat(size / 2)}`, true),
  shape("brackets around a letter", (size) => `${"[".repeat(size / 2)}a${"]".repeat(size / 2)}`, true),
  shape("runs of ticks", (size) => rising(size, (n) => "`".repeat(n), " "), true),
  shape("nested lists", (size) => rising(size, (n) => `${" ".repeat(n)}- a`, "\n"), true),
  shape("nested quotes", (size) => rising(size, (n) => `${">".repeat(n)} a`, "\n"), true),
  shape(
    "a table with one long cell",
    (size) => `| ${"a".repeat(size / 2)} |\n|-|\n${"| b |\n".repeat(size / 12)}`,
    true,
  ),
  shape("words that all differ", (size) => Array.from({ length: size / 8 }, (_, n) => `w${n}x`).join(" ")),
  shape("items that all differ", (size) => Array.from({ length: size / 10 }, (_, n) => `- w${n}x`).join("\n"), true),
];

function shape(name: string, text: Shape["text"], isMarkdown = false): Shape {
  return { name, text, isMarkdown };
}

function pumped(prefix: string, unit: string, size: number): string {
  return prefix + unit.repeat(Math.ceil((size - prefix.length) / unit.length)) + SUFFIX;
}

/** Lines that grow by one each, as many as fit. */
function rising(size: number, line: (n: number) => string, between: string): string {
  return Array.from({ length: Math.floor(Math.sqrt(2 * size)) }, (_, n) => line(n)).join(between);
}
