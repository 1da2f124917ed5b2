/**
 * `browser`: one tool for all that is done with pages. `repeat` is `never`: nobody knows what a second click would do.
 * What a page says is outside text and is labelled as such; notes of ours stand before it.
 */
import type { ActionPlan, Tool, ToolPlace, ToolResult } from "../../../core/contracts/index.ts";
import type { Json } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import { visible, visibleLine } from "../escape.ts";
import { withInside, wrongInput } from "../paths/index.ts";
import { labelled, planUrl, readHost } from "../web/index.ts";
import { act, findTab, leaveErrorPage, leaveOddPlaces } from "./actions.ts";
import type { Wanted } from "./compact.ts";
import { ACTIONS, type BrowserInput, parseBrowserInput } from "./input.ts";
import { type BrowserDeps, Pool } from "./pool.ts";
import { type BrowserSession, readTitle } from "./session.ts";

/** About 8k tokens; a page that says more is mostly lists. */
const SNAPSHOT_BYTES = 32 * 1024;
const OUT = ".lares/out";

export interface BrowserTool {
  tool: Tool;
  /** Ends every browser of this process. Idempotent; afterwards none is started. */
  closeAll(): Promise<void>;
}

export function createBrowserTool(deps: BrowserDeps = {}): BrowserTool {
  const pool = new Pool(deps);
  const tool: Tool = {
    spec: {
      name: "browser",
      description:
        "Use a web browser, for pages that web_fetch can't read or that need clicks. navigate first; each action returns an outline of the page, in which elements have refs such as e12. A screenshot is saved as a file: look at it with read.",
      input: {
        type: "object",
        properties: {
          action: { enum: [...ACTIONS], description: "what to do" },
          url: { type: "string", description: "for navigate: https://..." },
          ref: { type: "string", description: "an element of the last outline, e.g. e12" },
          text: { type: "string", description: "to type, option, key, words to wait for or find" },
          tab: { type: "integer", description: "which tab; default: the current one" },
          full: { type: "boolean", description: "all of the page" },
        },
        required: ["action"],
      },
    },
    repeat: "never",
    async plan(input, place) {
      return plan(pool, input, place);
    },
    async run(input, place, key, signal) {
      const parsed = parseBrowserInput(input);
      signal.throwIfAborted();
      if (parsed.action === "close" && parsed.tab === undefined) {
        await pool.close(place.agentDir);
        return { text: "[the browser is closed]" };
      }
      if (parsed.action === "navigate") pool.reach.check(parsed.url!);
      else if (!pool.peek(place.agentDir)) throw nothingOpen();
      return pool.use(place.agentDir, (session) => perform(session, parsed, { place, key }, signal));
    },
  };
  return { tool, closeAll: () => pool.closeAll() };
}

function plan(pool: Pool, input: Json, place: ToolPlace): ActionPlan {
  const parsed = parseBrowserInput(input);
  const { action, url, ref, text, tab } = parsed;
  if (action === "navigate")
    return planUrl({ tool: "browser", url: url!, reach: pool.reach, binding: { action }, verb: "Open" });
  const session = pool.peek(place.agentDir);
  if (action === "close") {
    return {
      tool: "browser",
      risk: "read",
      targets: [],
      shown: "Close the browser",
      binding: { action, tab: tab ?? null },
    };
  }
  if (!session) throw nothingOpen();
  const page = tab === undefined ? session.current() : findTab(session, tab);
  const at = page?.url() ?? "about:blank";
  const element = ref === undefined ? undefined : session.describe(ref);
  if (ref !== undefined && element === undefined) {
    throw wrongInput(`browser: ${ref} is not in the last snapshot.`, "Take a snapshot to get the current refs.");
  }
  const what = [
    action,
    ...(text === undefined ? [] : [JSON.stringify(text)]),
    ...(element ? [`on ${element}`] : []),
  ].join(" ");
  return {
    tool: "browser",
    risk: "network",
    targets: [URL.canParse(at) && new URL(at).hostname ? readHost(new URL(at)) : "about:blank"],
    shown: `${visible(what)}\n[in ${visibleLine(at)}]`,
    binding: { action, page: at, ref: ref ?? null, element: element ?? null, text: text ?? null, tab: tab ?? null },
  };
}

interface Call {
  place: ToolPlace;
  key: string;
}

async function perform(
  session: BrowserSession,
  input: BrowserInput,
  call: Call,
  signal: AbortSignal,
): Promise<ToolResult> {
  if (input.action === "close") {
    await findTab(session, input.tab!).close();
    return { text: `[tab ${input.tab} is closed; ${session.pages().length} are open]` };
  }
  session.takeEvents();
  const failure = await act(session, input, signal).then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  const { unreached, notes, failedNavigation } = session.takeEvents();
  if (failedNavigation) {
    const because = unreached.find(({ host }) => host === readHost(new URL(failedNavigation)));
    if (because || failure) await leaveErrorPage(await session.page());
    // What the network said tells more than the driver's "connection failed".
    if (because) throw because.error;
  }
  if (failure) throw failure.error;
  await leaveOddPlaces(await session.page());
  const blocked = [...new Set(unreached.filter(({ error }) => error.code === "FORBIDDEN").map(({ host }) => host))];
  const head = blocked.length > 0 ? `[blocked: ${visibleLine(blocked.join(", "))}]\n` : "";
  if (input.action === "screenshot") return screenshot(session, input, call, signal);
  if (input.action === "tabs") return tabs(session, call);
  // Filling a field changes a field: the page is known already.
  if (input.action === "type") {
    return { text: `${head}[typed into ${visibleLine(session.describe(input.ref!) ?? input.ref!)}]` };
  }
  const { url, title, text } = await session.snapshot(signal, readWanted(input));
  const label = `Page ${url}${title ? ` "${title}"` : ""}`;
  // Notes quote the page, so they stand below the label with the rest of its words.
  const whole = [...notes.map((note) => `[${visibleLine(note)}]`), text].join("\n");
  const shown = await labelled({
    label,
    text: whole,
    place: call.place,
    key: call.key,
    maxBytes: SNAPSHOT_BYTES,
  });
  return { text: `${head}${shown.text}`, meta: { url, title, ...truthy({ spill: shown.spill }) } };
}

/** A snapshot of the page, part of it, or the text around some words; a caller that waited for words wants to see them. */
function readWanted({ action, full, ref, text }: BrowserInput): Wanted {
  if (action === "snapshot") return { full, ref, find: text };
  return action === "wait" && text ? { also: text } : { full };
}

async function screenshot(
  session: BrowserSession,
  { ref }: BrowserInput,
  call: Call,
  signal: AbortSignal,
): Promise<ToolResult> {
  const page = await session.page();
  const options = { type: "png" as const, timeout: 20_000, signal };
  const image = await (ref ? page.getByRef(ref).screenshot(options) : page.screenshot(options));
  const path = `${OUT}/${call.key.replace(/[^\w.-]/g, "_")}.png`;
  return withInside({ root: call.place.workspace, path, parents: "make" }, async (inside) => {
    await inside.writeAtomic(image, call.key);
    return {
      text: `[screenshot in ${inside.path}]`,
      meta: { path: inside.path, bytes: image.length, url: page.url() },
    };
  });
}

async function tabs(session: BrowserSession, { place, key }: Call): Promise<ToolResult> {
  const current = session.current();
  const lines = await Promise.all(
    session.pages().map(async (page, at) => {
      return `${at + 1}${page === current ? " (current)" : ""} ${page.url()} ${(await readTitle(page)).slice(0, 100)}`.trimEnd();
    }),
  );
  return labelled({ label: "Open tabs", text: lines.join("\n"), place, key }).then(({ text }) => ({
    text,
  }));
}

function nothingOpen() {
  return wrongInput("browser: no page is open.", 'Open one with action "navigate".');
}
