/** A web page as `{ title, text }`, as source for a parser's process. It gets the paths of its modules. */
export const PAGE_SOURCE = String.raw`
function parse(bytes, { as, url, modules }) {
  const html = bytes.toString("utf8");
  const { parseHTML } = require(modules.linkedom);
  const { Readability } = require(modules.readability);

  const { document } = parseHTML(/<html[\s>]/i.test(html) ? html : "<html><body>" + html + "</body></html>");
  const title = (document.querySelector("title")?.textContent ?? "").replace(/\s+/g, " ").trim();

  // What a person would not see, a model shall not read.
  const HIDDEN = "title,script,style,template,noscript,iframe,object,embed,svg,canvas,[hidden],[aria-hidden=true],input[type=hidden]";
  for (const node of document.querySelectorAll(HIDDEN)) node.remove();
  for (const node of document.querySelectorAll("[style]")) {
    const style = (node.getAttribute("style") ?? "").toLowerCase().replace(/\s+/g, "");
    if (/display:none|visibility:hidden|opacity:0(?![.\d]*[1-9])|font-size:0(?![.\d]*[1-9])/.test(style)) node.remove();
  }
  for (const link of document.querySelectorAll("a[href], img[src]")) {
    const name = link.hasAttribute("href") ? "href" : "src";
    const target = link.getAttribute(name);
    let absolute;
    try { absolute = new URL(target, url); } catch {}
    if (absolute && /^https?:$/.test(absolute.protocol)) link.setAttribute(name, absolute.href);
    else link.removeAttribute(name);
  }

  const whole = document.body ?? document.documentElement;
  const wholeLength = whole.textContent.replace(/\s+/g, " ").length;
  const article = new Readability(document.cloneNode(true)).parse();
  // Lists, forums and start pages are no articles; what Readability finds there is a scrap of them.
  const found = article && article.length >= 500 && article.length * 4 >= wholeLength ? article : undefined;
  const root = found ? parseHTML("<html><body>" + found.content + "</body></html>").document.body : whole;
  if (!found) for (const node of root.querySelectorAll("nav,footer,aside,form select")) node.remove();

  const text = as === "markdown" ? markdown(root, modules.turndown) : plain(root);
  return { title: (title || (article?.title ?? "")).slice(0, 1000), text: text.replace(/[ \t]+\n/g, "\n").replace(/\n{3,}/g, "\n\n").trim() };
}

function markdown(node, turndown) {
  // It gets nodes, never text: with a parser in sight it does not load its own, which is a third of the time.
  globalThis.window = { DOMParser: class { parseFromString() { return true; } } };
  const Turndown = require(turndown);
  const service = new Turndown({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-", hr: "---" });
  service.addRule("image", { filter: "img", replacement: (_, img) => (img.getAttribute("alt") ? "[image: " + img.getAttribute("alt").replace(/\s+/g, " ") + "]" : "") });
  service.addRule("bare", { filter: (n) => n.nodeName === "A" && !n.textContent.trim(), replacement: () => "" });
  service.addRule("row", { filter: "tr", replacement: (_, row) => "\n| " + cells(row).join(" | ") + " |" });
  return service.turndown(node);
}

function cells(row) {
  return [...row.children].map((cell) => cell.textContent.replace(/\s+/g, " ").trim());
}

function plain(node) {
  const BLOCK = /^(ADDRESS|ARTICLE|ASIDE|BLOCKQUOTE|BR|DD|DIV|DL|DT|FIGCAPTION|FIGURE|FORM|H[1-6]|HEADER|HR|LI|MAIN|OL|P|PRE|SECTION|TABLE|TR|UL)$/;
  const parts = [];
  // Our own stack: a page nested a hundred thousand deep must not end the process.
  const stack = [node];
  while (stack.length > 0) {
    const at = stack.pop();
    if (typeof at === "string") parts.push(at);
    else if (at.nodeType === 3) parts.push(at.parentNode?.nodeName === "PRE" ? at.textContent : at.textContent.replace(/\s+/g, " "));
    else if (at.nodeType === 1) {
      const gap = /^(P|H[1-6]|UL|OL|TABLE|PRE|BLOCKQUOTE)$/.test(at.nodeName) ? "\n\n" : BLOCK.test(at.nodeName) ? "\n" : /^T[DH]$/.test(at.nodeName) ? "\t" : "";
      if (gap) stack.push(gap);
      for (const child of [...at.childNodes].reverse()) stack.push(child);
      if (gap && gap !== "\t") stack.push(gap);
    }
  }
  return parts.join("").replace(/\n /g, "\n");
}
`;
