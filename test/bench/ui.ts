/** The page's bars of UI.md §6 on this machine, in a real Chromium. */
import { importLong, onDesktop, onPhone } from "../ui/speed.ts";
import { hasBrowser, startBrowser, startInstance } from "../ui/support.ts";

export interface UiFigure {
  what: string;
  seen: string;
  bar: string;
  ok: boolean;
}

export async function uiFigures(): Promise<UiFigure[]> {
  if (!hasBrowser) return [];
  const instance = await startInstance();
  const browser = await startBrowser();
  try {
    await importLong(instance);
    const signedIn = await instance.signIn(browser);
    await onPhone(browser, instance, signedIn);
    const phone = await onPhone(browser, instance, signedIn);
    const desk = await onDesktop(browser, instance, signedIn);
    const row = (what: string, value: number, bar: number): UiFigure => ({
      what,
      seen: `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ms`,
      bar: `≤ ${bar} ms`,
      ok: value <= bar,
    });
    const weight = `${(phone.bytes / 1000).toFixed(0)} kB, ${phone.requests} requests, ${phone.trips} round trips in a row`;
    return [
      row(`UI on a slow phone: first paint (${weight})`, phone.paintMs, 2000),
      row("UI on a slow phone: composer usable", phone.composerMs, 3000),
      row("UI page change, first visit", desk.firstChangeMs, 150),
      row("UI page change", desk.changeMs, 150),
      row("UI palette open", desk.paletteMs, 60),
      row("UI key to frame", desk.keyMs, 16),
      row("UI work per key", desk.keyWorkMs, 16),
    ];
  } finally {
    await browser.close();
    await instance.dispose();
  }
}

if (process.argv[1]?.endsWith("ui.ts")) {
  for (const { what, seen, bar, ok } of await uiFigures()) {
    process.stdout.write(`${ok ? "✓" : "✕"} ${what}: ${seen} (${bar})\n`);
  }
}
