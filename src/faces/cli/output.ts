/**
 * Where words go: data on stdout, all else on stderr (UI.md §8).
 *
 * CLI-1: with --json stdout carries JSON only, and a failure is one `{"error":…}` line on stderr.
 * CLI-2: colour only on a terminal, never with NO_COLOR.
 * CLI-7: what others wrote cannot steer this terminal: in lines for people only our own colours pass, every other control character
 *     is shown instead of sent. Data that is asked for as it is (`raw`, JSON) stays as it is.
 * CLI-3: everything is printed as it is given otherwise. Only a sentence of ours that names a command passes through `hint` or `ours`, where
 *     `lares …` becomes what works in this terminal. Words of people, models and tools never do, nor do JSON documents.
 */
import { toErrorShape } from "../../core/domain/index.ts";
import { quoted } from "../../core/kit/index.ts";
import { asCalled } from "../../core/protocol/client.ts";
import { usualHome } from "../../ground/config/index.ts";
import type { Tone } from "./format.ts";
import type { CliOutput, CliPorts } from "./ports.ts";
import { textWidth } from "./width.ts";

const CODES: Record<Tone, string | undefined> = { ok: "32", wait: "33", fail: "31", dim: "2", plain: undefined };

/** A template of ours: its own words name commands as they can be called here, what is put in stays as it is. */
export type Hint = (words: TemplateStringsArray, ...data: readonly (string | number | undefined)[]) => string;

export type Paint = (text: string, tone: Tone) => string;

function painter(stream: CliOutput, noColor: boolean): Paint {
  if (!stream.isTTY || noColor) return (text) => text;
  return (text, tone) => (text && CODES[tone] ? `\u001b[${CODES[tone]}m${text}\u001b[0m` : text);
}

export interface Output {
  readonly json: boolean;
  readonly quiet: boolean;
  /** For what goes to stdout. */
  readonly paint: Paint;
  /** For what goes to stderr. */
  readonly paintNote: Paint;
  readonly hint: Hint;
  /** For a command typed in another terminal, which may not have LARES_HOME: any home but the usual one is named. */
  readonly hintElsewhere: Hint;
  /** The same for a whole sentence that Lares wrote elsewhere and sent as a separate field: an error's hint, a finding's fix. */
  ours(sentence: string): string;
  /** Lines of data for people. Nothing with --json: say the same by `document` or `items`. */
  say(...lines: string[]): void;
  /** Data as it is, in every mode. */
  raw(text: string): void;
  /** One JSON document, only with --json. */
  document(value: unknown): void;
  /** JSON Lines, only with --json. */
  items(values: readonly unknown[]): void;
  /** Beside the data: a notice. Silent with -q and --json. */
  note(...lines: string[]): void;
  /** A failure; never silent. */
  error(error: unknown): void;
}

export function makeOutput(
  ports: Pick<CliPorts, "stdout" | "stderr" | "env" | "program">,
  flags: { json: boolean; quiet: boolean; home?: string },
): Output {
  const { stdout, stderr } = ports;
  const { json, quiet } = flags;
  const paintNote = painter(stderr, ports.env.noColor);
  const put = (stream: CliOutput, lines: string[]) => {
    if (lines.length) stream.write(`${lines.map(withoutControls).join("\n")}\n`);
  };
  // A command that is pasted must reach the same home as this one did.
  const callable = (known: string) => {
    const home = flags.home && flags.home !== known ? ` --home ${quoted(flags.home)}` : "";
    return (line: string) => asCalled(line, `${ports.program?.here ?? "lares"}${home}`);
  };
  const called = callable(ports.env.home);
  const hintBy =
    (rename: (line: string) => string): Hint =>
    (words, ...data) =>
      words.map((own, i) => rename(own) + (i < data.length ? String(data[i] ?? "") : "")).join("");
  return {
    json,
    quiet,
    paint: painter(stdout, ports.env.noColor),
    paintNote,
    hint: hintBy(called),
    hintElsewhere: (words, ...data) => hintBy(callable(usualHome(ports.env)))(words, ...data),
    ours: called,
    say(...lines) {
      if (!json) put(stdout, lines);
    },
    raw(text) {
      stdout.write(text);
    },
    document(value) {
      if (json) put(stdout, [JSON.stringify(value)]);
    },
    items(values) {
      if (json)
        put(
          stdout,
          values.map((value) => JSON.stringify(value)),
        );
    },
    note(...lines) {
      if (!json && !quiet) put(stderr, lines);
    },
    error(error) {
      const { code, message, hint: given, retry, details } = toErrorShape(error);
      const hint = given && called(given);
      if (json) put(stderr, [JSON.stringify({ error: { code, message, hint, retry, details } })]);
      else if (message.includes("\n")) put(stderr, [`${paintNote("✕", "fail")} ${message}`, ...(hint ? [hint] : [])]);
      else put(stderr, [[message, hint].filter(Boolean).join(" ")]);
    },
  };
}

/** Line breaks and tabs are layout; an escape passes only as one of our colours (CODES, and 0 for the end). */
const CONTROLS = /\u001b(?!\[(?:0|2|31|32|33)m)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g;

function withoutControls(line: string): string {
  return line.replace(CONTROLS, (sign) => `\\x${sign.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

/** Aligned columns without boxes. Cells may be coloured; the last column is not padded. */
export function table(rows: readonly (readonly string[])[], indent = ""): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, textWidth(cell));
  }
  return rows.map((row) =>
    (indent + row.map((cell, i) => cell + " ".repeat(widths[i]! - textWidth(cell))).join("  ")).trimEnd(),
  );
}
