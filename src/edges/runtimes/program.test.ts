/** What programs print about themselves. Each row is what one was seen to print. */
import { expect, test } from "vitest";
import { findVersion } from "./program.ts";

test.each([
  ["2.1.325 (Claude Code)", "2.1.325"],
  ["codex-cli 0.166.0", "0.166.0"],
  ["1.18.33", "1.18.33"],
  ["Hermes Agent v0.19.0 (2026.7.20)\nInstall method: pip\nPython: 3.11.7\nOpenAI SDK: 2.24.0\nUp to date", "0.19.0"],
  ["a banner\n1.2.3-beta.1", "1.2.3-beta.1"],
  ["no version at all\nlatest", "latest"],
])("of %j the version is %s", (printed, version) => expect(findVersion(printed)).toBe(version));
