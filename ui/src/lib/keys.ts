/** Keys of the whole page. A page adds its own with `onKey`; the newest listener is asked first. */
import { look } from "./theme.svelte.ts";

type Handler = (key: string, event: KeyboardEvent) => boolean;
const handlers: Handler[] = [];

export function onKey(handler: Handler): () => void {
  handlers.push(handler);
  return () => {
    const at = handlers.indexOf(handler);
    if (at >= 0) handlers.splice(at, 1);
  };
}

export function inField(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null;
  return !!element?.closest?.("input, textarea, select, [contenteditable]");
}

const PAGES: Record<string, string> = {
  n: "/",
  c: "/chat",
  s: "/schedule",
  m: "/memory",
  a: "/agents",
  l: "/activity",
  ",": "/settings",
};
let afterG = 0;

export function listen(go: (path: string) => void): void {
  addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const withControl = event.ctrlKey || event.metaKey;
    const key = withControl ? `mod+${event.key.toLowerCase()}` : event.key;
    const isLetter = !withControl && !event.altKey && key.length === 1;
    if (isLetter && (inField(event.target) || !look.letters)) return;
    if (isLetter && afterG && Date.now() - afterG < 1500) {
      afterG = 0;
      const page = PAGES[key];
      if (page) {
        event.preventDefault();
        return go(page);
      }
    }
    afterG = key === "g" && isLetter ? Date.now() : 0;
    for (const handler of [...handlers].reverse()) {
      if (!handler(key, event)) continue;
      event.preventDefault();
      return;
    }
  });
}
