/**
 * Parser agreement (SHELL-1): what a real bash starts for a string ⊆ what the analyser reports, unless the analyser says that it
 * cannot know. bash runs with an empty PATH; its not-found handler writes the name of whatever it was asked to start.
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { analyse, CANNOT_KNOW } from "../../src/edges/tools/exec/shell/index.ts";
import { random, shellString } from "./grammar.ts";

export interface Agreement {
  strings: number;
  /** The analyser claims to know every program. */
  known: number;
  unparsed: number;
  /** Programs the shell started in strings the analyser claims to know. */
  started: number;
  /** Batches that had to be ended: what was left of them was not compared. */
  cut: number;
  misses: { seed: number; text: string; started: string[]; reported: string[] }[];
}

const DRIVER = String.raw`
command_not_found_handle() {
  printf '%s\0' "$1" >> "$LARES_LOG"
  mapfile -d '' LARES_SEEN < "$LARES_LOG"
  # A loop whose end the grammar broke.
  (( \${#LARES_SEEN[@]} > 200 )) && kill -9 $LARES_TOP
  return $(( \${#1} % 2 ))
}
FUNCNEST=20
TMOUT=1
for LARES_FILE in "$@"; do
  LARES_LOG=$LARES_FILE.log
  ( LARES_TOP=$BASHPID; cd "$LARES_FILE.d" && exec < /dev/null > /dev/null 2>&1; PATH=$LARES_EMPTY; unset LARES_EMPTY; hash -r
    . "$LARES_FILE"; wait )
done
`.replaceAll("\\$", "$");

/** Strings for one bash; a hanging one then costs one batch, not the run. */
const BATCH = 100;
const BATCH_MS = 20_000;

export async function agree(seed: number, count: number): Promise<Agreement> {
  const dir = mkdtempSync(join(tmpdir(), "lares-agree-"));
  const out: Agreement = { strings: 0, known: 0, unparsed: 0, started: 0, cut: 0, misses: [] };
  try {
    mkdirSync(join(dir, "empty"));
    writeFileSync(join(dir, "driver.sh"), DRIVER);
    for (let from = 0; from < count; from += BATCH) {
      const batch = Array.from({ length: Math.min(BATCH, count - from) }, (_, i) => {
        const own = (seed * 1_000_003 + from + i) >>> 0;
        return { seed: own, text: shellString(random(own)), file: join(dir, `s${from + i}`) };
      });
      for (const { file, text } of batch) {
        writeFileSync(file, text);
        mkdirSync(`${file}.d`);
      }
      if (
        !(await bash(
          dir,
          batch.map(({ file }) => file),
        ))
      )
        out.cut++;
      for (const { seed: own, text, file } of batch) judge(out, { seed: own, text, started: startedIn(file) });
    }
    return out;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function judge(out: Agreement, { seed, text, started }: { seed: number; text: string; started: string[] }): void {
  const { commands, reasons } = analyse(text);
  out.strings++;
  if (reasons.some((reason) => reason.kind === "unparsed")) out.unparsed++;
  if (reasons.some((reason) => CANNOT_KNOW.has(reason.kind))) return;
  out.known++;
  out.started += started.length;
  const reported = commands.map((command) => command.words[0]!.literal ?? "");
  if (started.some((name) => !reported.includes(name))) out.misses.push({ seed, text, started, reported });
}

function startedIn(file: string): string[] {
  try {
    return readFileSync(`${file}.log`, "utf8").split("\0").filter(Boolean);
  } catch {
    return [];
  }
}

function bash(dir: string, files: string[]): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/bash", ["--norc", join(dir, "driver.sh"), ...files], {
      cwd: dir,
      env: { PATH: "/usr/bin:/bin", LARES_EMPTY: join(dir, "empty"), LC_ALL: "C.UTF-8" },
      stdio: "ignore",
      detached: true,
    });
    let whole = true;
    const end = setTimeout(() => {
      whole = false;
      process.kill(-child.pid!, "SIGKILL");
    }, BATCH_MS);
    child.once("error", reject);
    child.once("exit", () => {
      clearTimeout(end);
      try {
        process.kill(-child.pid!, "SIGKILL");
      } catch {
        // Nothing was left.
      }
      resolve(whole);
    });
  });
}
