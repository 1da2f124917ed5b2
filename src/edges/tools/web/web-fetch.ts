/**
 * `web_fetch`: one page or file of the web as text. A redirect to another host is reported, not followed: the plan named the
 * host that was judged (TOOL-3), and a page must not choose the next one.
 */
import { z } from "zod";
import type { ActionPlan, Tool, ToolResult } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { truthy, withoutHidden } from "../../../core/kit/index.ts";
import { visibleLine } from "../escape.ts";
import { humanSize } from "../files/content.ts";
import { parseInput } from "../input.ts";
import { toContent } from "./content.ts";
import type { Fetched, Fetcher } from "./fetcher.ts";
import { labelled } from "./outside.ts";
import { type Reach, readHost } from "./reach.ts";

/** More than nearly every page; what is bigger is cut here and said to be. */
export const MAX_BYTES = 5 * 1024 * 1024;
/** Larger pages are given as they are: no person reads them, and parsing them takes seconds. */
const MOST_HTML = 2 * 1024 * 1024;
/** An error page says what it has to say at its beginning. */
const ERROR_BYTES = 2048;

const schema = z.strictObject({
  url: z.string().min(1).max(8192),
  as: z.enum(["markdown", "text", "raw"]).optional(),
});
type As = NonNullable<z.output<typeof schema>["as"]>;

/** A page as a person would read it. Throws AppError when it cannot be made so. */
export type ReadPage = (
  page: { html: string; as: "markdown" | "text"; url: string },
  signal: AbortSignal,
) => Promise<{ title: string; text: string }>;

export interface WebFetchDeps {
  readPage: ReadPage;
  fetcher: Fetcher;
  reach: Reach;
}

export function createWebFetch({ fetcher, reach, readPage }: WebFetchDeps): Tool {
  return {
    spec: {
      name: "web_fetch",
      description: `Read one web page or file by its address, as Markdown, up to ${MAX_BYTES / 1024 / 1024} MB; a long one is cut and saved as a file.`,
      input: {
        type: "object",
        properties: {
          url: { type: "string", description: "an https:// address" },
          as: { enum: ["markdown", "text", "raw"], description: "default markdown" },
        },
        required: ["url"],
      },
    },
    repeat: "safe",
    async plan(input) {
      const { url, as = "markdown" } = parseInput("web_fetch", schema, input);
      return planUrl({ tool: "web_fetch", url, reach, binding: { as }, verb: "GET" });
    },
    async run(input, place, key, signal) {
      const { url, as = "markdown" } = parseInput("web_fetch", schema, input);
      const request = { url: withoutFragment(url), maxBytes: MAX_BYTES, oversize: "cut" as const, follow: sameSite };
      const fetched = await fetcher.fetch({ ...request, headers: { accept: ACCEPT } }, signal);
      if (fetched.location !== undefined) return elsewhere(fetched, fetched.location);
      const { text, isText, meta } = await render(fetched, { as, readPage }, signal);
      const failed = fetched.status >= 400;
      const label = `${failed ? `HTTP ${fetched.status}` : "Content"} from ${fetched.url}`;
      const shown = isText
        ? await labelled({ label, text, place, key, ...(failed ? { maxBytes: ERROR_BYTES } : {}) })
        : { text, cut: false };
      const facts = {
        url: fetched.url,
        status: fetched.status,
        bytes: fetched.body.length,
        ...meta,
        ...truthy({ download_cut: fetched.cut }),
        ...("spill" in shown && shown.spill ? { spill: shown.spill } : {}),
      };
      return { text: shown.text, ...truthy({ isError: failed }), meta: facts };
    },
  };
}

const ACCEPT = "text/html,application/xhtml+xml,text/markdown,text/plain,application/json;q=0.9,*/*;q=0.5";

interface UrlPlan {
  tool: string;
  url: string;
  reach: Reach;
  binding: ActionPlan["binding"];
  verb: string;
}

/** A plan about one address; what can be refused without asking a name server is refused before anybody is asked. */
export function planUrl({ tool, url, reach, binding, verb }: UrlPlan): ActionPlan {
  const base = { tool, risk: "network" as const };
  try {
    const checked = reach.check(url);
    const whole = { ...binding, url: checked.href };
    return { ...base, targets: [readHost(checked)], shown: `${verb} ${visibleLine(checked.href)}`, binding: whole };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "FORBIDDEN") throw error;
    const { protocol, hostname } = new URL(url);
    const host = hostname === "" ? protocol : readHost(new URL(url));
    return {
      ...base,
      targets: [host],
      shown: `${verb} ${visibleLine(url)}`,
      binding: { ...binding, url },
      outside: error.message,
    };
  }
}

async function render(
  { body, headers, url, cut }: Fetched,
  { as, readPage }: { as: As; readPage: ReadPage },
  signal: AbortSignal,
): Promise<{ text: string; isText: boolean; meta: { type: string; title?: string } }> {
  const content = toContent(headers["content-type"], body);
  const meta = { type: content.type };
  if (content.kind === "binary") {
    const size = `${cut ? "more than " : ""}${humanSize(body.length)}`;
    return { text: `[${visibleLine(url)} is not text: ${visibleLine(content.what)}, ${size}]`, isText: false, meta };
  }
  if (content.kind === "text" || as === "raw" || body.length > MOST_HTML)
    return { text: content.text, isText: true, meta };
  const page = await readPage({ html: content.text, as, url }, signal);
  const title = visibleLine(withoutHidden(page.title)).slice(0, 300);
  const isShown = title === "" || page.text.startsWith(`# ${title}`);
  const heading = isShown ? "" : `${as === "markdown" ? "# " : ""}${title}\n\n`;
  return { text: `${heading}${page.text}`, isText: true, meta: { ...meta, ...truthy({ title }) } };
}

function elsewhere({ status, url }: Fetched, location: string): ToolResult {
  const to = visibleLine(location);
  return {
    text: `[${visibleLine(url)} redirects to another host. To follow: web_fetch ${to}]`,
    meta: { url, status, location },
  };
}

/** The same host by http or https, with or without www. */
function sameSite(from: URL, to: URL): boolean {
  const site = (url: URL) => readHost(url).replace(/^www\./, "");
  return site(from) === site(to) && !(from.protocol === "https:" && to.protocol === "http:");
}

function withoutFragment(url: string): string {
  return url.split("#", 1)[0]!;
}
