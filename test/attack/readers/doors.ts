/** What providers, callers and services say at Lares' own doors, and what ends up on a terminal. */
import { fill, matches } from "../../../src/edges/hooks/fill.ts";
import { classify, limitIn, retryAfterMs } from "../../../src/edges/models/chain/classify.ts";
import { cleanWords } from "../../../src/edges/models/chain/words.ts";
import { chat } from "../../../src/edges/models/practice/chat.ts";
import { reportOutcome } from "../../../src/edges/models/practice/report.ts";
import { pagesIn } from "../../../src/edges/parsers/pdf.ts";
import { analyse } from "../../../src/edges/tools/exec/shell/analyse.ts";
import { cleaned } from "../../../src/edges/tools/web/web-search.ts";
import { oneLine } from "../../../src/faces/cli/format.ts";
import { cut, textWidth } from "../../../src/faces/cli/width.ts";
import { canonicalAddress } from "../../../src/faces/gateway/auth/address.ts";
import { isOwnOrigin } from "../../../src/faces/gateway/auth/guard.ts";
import { fromData } from "../../../src/faces/gateway/openai/files.ts";
import { isOwnKey, mayBegin } from "../../../src/flow/access/reach.ts";
import { findDestinations } from "../../../src/flow/gate/destinations.ts";
import { judgeFind, judgeSed } from "../../../src/flow/gate/find-and-sed.ts";
import type { Rows } from "./reader.ts";

const caller = { id: "a", name: "a", credential: "token" as const, scopes: new Set(["read", "admin"] as const) };
const evidence = (text: string) => ({ status: 400, body: text, message: text, codes: [text], retryAfterMs: null });
const shell = (text: string) => {
  const plan = analyse(text);
  return findDestinations({ ...plan, text, form: "shell", cwd: "/w" });
};

export const DOORS: Rows = {
  "a webhook's delivery": (text) => {
    const delivery = { body: { a: text, b: [text] }, headers: { x: text } };
    return [
      matches({ "body.a": text }, delivery),
      fill(undefined, delivery),
      fill("{{body.a}} {{ headers.x }}", delivery),
    ];
  },
  "a hit of a search service": (text) => cleaned({ title: text, url: `https://a.example/${text}`, snippet: text }),
  "where a command sends something": (text) => [
    shell(`curl ${text.slice(0, 10_000)}`),
    shell(`scp ${text.slice(0, 10_000)}`),
    shell(`python3 -c '${text.replaceAll("'", "").slice(0, 10_000)}'`),
  ],
  "a search for files and an edit by sed": (text) => [judgeFind([".", text]), judgeSed([text, text])],
  "a provider's refusal": (text) => [classify(evidence(text)), limitIn(evidence(text)), cleanWords(text, ["secret"])],
  "a provider's wish to wait": (text) => retryAfterMs({ "retry-after": text, "retry-after-ms": text }, 0),
  "words for the practice model's small talk": (text) => chat(text, { offered: new Set(), told: { place: [text] } }),
  "an outcome for the practice model": (text) => reportOutcome({ text, label: { kind: "approval", text, of: "a" } }),
  "the pages of a PDF": (text) => [pagesIn(text), pagesIn(`[Page 1]\n${text}\n[Page 2]\n${text}`)],
  "text on a terminal": (text) => [textWidth(text), cut(text, 80), cut(text, text.length), oneLine(text)],
  "a caller's address": (text) => [canonicalAddress(text), canonicalAddress(`::ffff:${text}`)],
  "a caller's origin": (text) => isOwnOrigin(text, text),
  "a file as an address": (text) => [fromData(`data:${text}`), fromData(`data:text/plain;${text}`)],
  "a session's name": (text) => [mayBegin(`agent:main:http:${text}`, caller, () => true), isOwnKey(text, caller)],
};
