/** Addresses and pages: the history API and one table. Each page is a separate chunk, loaded when it is first needed. */
import type { Component } from "svelte";

type Page = Component<{ params: Record<string, string> }>;
type Load = () => Promise<{ default: Page }>;
export type Section = "now" | "chat" | "schedule" | "memory" | "agents" | "activity" | "settings" | "more" | "none";
interface Route {
  section: Section;
  pattern: RegExp;
  load: Load;
}

const route = (section: Section, path: string, load: Load): Route => ({
  section,
  load,
  pattern: new RegExp(`^${path.replace(/:(\w+)\?/g, "?(?<$1>[^/]*)").replace(/:(\w+)/g, "(?<$1>[^/]+)")}/?$`),
});

const chat: Load = () => import("../pages/Chat.svelte");
const activity: Load = () => import("../pages/Activity.svelte");
const ROUTES: Route[] = [
  route("now", "/", () => import("../pages/Now.svelte")),
  route("chat", "/chat/:session?", chat),
  route("chat", "/sessions", chat),
  route("schedule", "/schedule/:id?", () => import("../pages/Schedule.svelte")),
  route("memory", "/memory", () => import("../pages/Memory.svelte")),
  route("more", "/more", () => import("../pages/More.svelte")),
  route("agents", "/agents/:id?", () => import("../pages/Agents.svelte")),
  route("activity", "/activity", activity),
  route("activity", "/turns/:turn", () => import("../pages/Turn.svelte")),
  route("activity", "/approvals/:id?", () => import("../pages/Approvals.svelte")),
  route("activity", "/usage", () => import("../pages/Usage.svelte")),
  route("activity", "/log", () => import("../pages/Log.svelte")),
  route("settings", "/settings/:tab?", () => import("../pages/Settings.svelte")),
];
const lost: Load = () => import("../pages/NotFound.svelte");

export interface Place {
  path: string;
  section: Section;
  params: Record<string, string>;
  load: Load;
}

function find(path: string): Place {
  for (const r of ROUTES) {
    const found = r.pattern.exec(path);
    if (!found) continue;
    const params: Record<string, string> = {};
    for (const [name, value] of Object.entries(found.groups ?? {})) if (value) params[name] = decode(value);
    return { path, section: r.section, params, load: r.load };
  }
  return { path, section: "none", params: {}, load: lost };
}

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

class Router {
  place: Place = $state.raw(find(location.pathname));
  search: URLSearchParams = $state.raw(new URLSearchParams(location.search));

  constructor() {
    addEventListener("popstate", () => this.read());
    document.addEventListener("click", (event) => {
      const link = (event.target as Element).closest?.("a[href]");
      if (!(link instanceof HTMLAnchorElement) || link.target || link.hasAttribute("download")) return;
      if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
        return;
      if (link.origin !== location.origin || /^\/(login|logout)/.test(link.pathname)) return;
      event.preventDefault();
      this.go(link.pathname + link.search);
    });
  }

  go(to: string, replace = false): void {
    if (to !== location.pathname + location.search) history[replace ? "replaceState" : "pushState"](null, "", to);
    this.read();
  }

  private read(): void {
    const search = new URLSearchParams(location.search);
    if (search.toString() !== this.search.toString()) this.search = search;
    if (location.pathname !== this.place.path) this.place = find(location.pathname);
  }
}

export const router = new Router();
export const chatPath = (session: string): string => `/chat/${encodeURIComponent(session)}`;
export const schedulePath = (id: string): string => `/schedule/${encodeURIComponent(id)}`;
export const turnPath = (turn: string): string => `/turns/${encodeURIComponent(turn)}`;
