/**
 * One Chromium with the agent's own profile, on a short leash: all traffic by our proxy, driven by a pipe and not by a port
 * (SB-05), a clean environment, no downloads, no extensions, no sync.
 */
import { mkdir, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { BrowserContext, BrowserType } from "playwright-core";
import { AppError } from "../../../core/domain/index.ts";
import { cleanEnvironment } from "../exec/environment.ts";
import type { GuardProxy } from "./proxy.ts";

export interface LaunchOptions {
  driver: BrowserType;
  executable: string;
  profile: string;
  proxy: GuardProxy;
}

/** A usual laptop window; pages choose their layout by it. */
const VIEWPORT = { width: 1280, height: 800 };
const LAUNCH_MS = 30_000;

const FLAGS = [
  // The browser knows no name but the proxy's address: what does not go by the proxy goes nowhere.
  "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
  // WebRTC would send datagrams past any proxy.
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--disable-quic",
  "--disable-background-networking",
  "--disable-domain-reliability",
  "--no-pings",
  // The browser's own sign-in asks its maker who is there; a port nothing may use ends that here.
  "--allow-browser-signin=false",
  "--gaia-url=http://127.0.0.1:1",
];

export async function launch({ driver, executable, profile, proxy }: LaunchOptions): Promise<BrowserContext> {
  await mkdir(profile, { recursive: true, mode: 0o700 });
  await freeProfile(profile);
  await writePreferences(profile);
  try {
    return await driver.launchPersistentContext(profile, {
      executablePath: executable,
      headless: true,
      // Chromium refuses its own sandbox to root; everybody else gets it.
      chromiumSandbox: process.getuid?.() !== 0,
      // `<-loopback>`: this machine is reached by the proxy like everything else, and so judged.
      proxy: { server: proxy.server, username: proxy.username, password: proxy.password, bypass: "<-loopback>" },
      args: FLAGS,
      env: cleanEnvironment(profile),
      acceptDownloads: false,
      viewport: VIEWPORT,
      timeout: LAUNCH_MS,
      // Lares closes its browsers itself when it stops.
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    });
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : String(cause);
    throw new AppError("NOT_READY", {
      message: `Chromium didn't start: ${text.split("\n")[0]}`,
      hint: /sandbox/i.test(text)
        ? "This machine doesn't let Chromium use its sandbox: enable unprivileged user namespaces."
        : `Try it by hand: ${executable} --headless --dump-dom about:blank`,
      retry: "after-change",
      cause,
    });
  }
}

/** A browser that talks of its own accord tells its maker what the agent looks at; each of these is such a habit. */
const PREFERENCES = {
  autofill: { enabled: false, profile_enabled: false, credit_card_enabled: false },
  credentials_enable_service: false,
  profile: { password_manager_enabled: false, password_manager_leak_detection: false },
  search: { suggest_enabled: false },
  signin: { allowed: false },
  translate: { enabled: false },
  alternate_error_pages: { enabled: false },
  // 2: no connections in advance.
  net: { network_prediction_options: 2 },
  webrtc: { ip_handling_policy: "disable_non_proxied_udp" },
};

/** Ours over what the profile has. A file that cannot be read is one Chromium would start over, too. */
async function writePreferences(profile: string): Promise<void> {
  const file = join(profile, "Default", "Preferences");
  const text = await readFile(file, "utf8").catch(() => "{}");
  let there: Record<string, unknown> = {};
  try {
    there = JSON.parse(text) as Record<string, unknown>;
  } catch {
    // Cut off by a crash; what was in it is lost already.
  }
  const merged = Object.entries(PREFERENCES).map(([name, ours]) => {
    const old = there[name];
    return [name, typeof ours === "object" && typeof old === "object" ? { ...old, ...ours } : ours];
  });
  await mkdir(join(profile, "Default"), { recursive: true, mode: 0o700 });
  await writeFile(file, JSON.stringify({ ...there, ...Object.fromEntries(merged) }), { mode: 0o600 });
}

/**
 * A lock left by a Chromium that is gone (a killed container keeps the file and changes the host name) would stop the next
 * one. A living holder is left alone: its pipe is closed, so it is about to end.
 */
async function freeProfile(profile: string): Promise<void> {
  const lock = join(profile, "SingletonLock");
  const holder = await readlink(lock).catch(() => undefined);
  if (holder === undefined) return;
  const [, host, pid] = /^(.*)-(\d+)$/.exec(holder) ?? [];
  if (host === hostname() && isAlive(Number(pid))) return;
  for (const name of ["SingletonLock", "SingletonSocket", "SingletonCookie"])
    await rm(join(profile, name), { force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
