import { expect, test } from "vitest";
import { tryRun } from "./trial.ts";

const LONG = Array.from({ length: 200 }, (_, n) => `--ro-bind=/usr/lib/${n}`);
const env = { PATH: "/usr/bin:/bin" };

test.each([
  ["a program that says nothing", ["/bin/sh", "-c", "exit 3", ...LONG], "it ended with exit code 3 and said nothing"],
  ["one that is ended", ["/bin/sh", "-c", "kill -9 $$", ...LONG], "it was ended by SIGKILL"],
  ["one that complains", ["/bin/sh", "-c", "echo no namespaces >&2; echo more >&2; exit 1", ...LONG], "no namespaces"],
  ["one that isn't there", ["/nowhere/bwrap", ...LONG], "/nowhere/bwrap is not installed"],
] as [string, [string, ...string[]], string][])(
  "%s fails with one short cause, never with its command line",
  async (_what, argv, why) => {
    const missing = argv[0].startsWith("/nowhere") ? { missing: true } : {};
    expect(await tryRun(argv, env)).toEqual({ ok: false, why, ...missing });
  },
);
