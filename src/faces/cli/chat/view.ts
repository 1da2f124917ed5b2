/** What the conversation looks like: lasting lines above, and at the foot the live text, one status line, the input, a footer. */
import type { Clock } from "../../../core/kit/index.ts";
import type { TurnDetail } from "../../../core/protocol/index.ts";
import { duration, elapsed, money, oneLine, visible } from "../format.ts";
import { endLine, saysNoMore } from "../lines.ts";
import type { Output, Paint } from "../output.ts";
import { cut, wrap } from "../width.ts";
import { chatWords as words } from "../words/chat.ts";
import { commonWords } from "../words/common.ts";
import type { Composer } from "./composer.ts";
import { foldReads, isRead, type Read } from "./reads.ts";
import { toolLine } from "./rows.ts";
import type { Row, Screen } from "./screen.ts";
import type { TextSink } from "./streamed-text.ts";

/** Lines of a failed tool's output that are shown at once. */
const FAILED_LINES = 6;

export interface ViewParts {
  screen: Screen;
  paint: Paint;
  ours: Output["ours"];
  clock: Clock;
  composer: () => Composer | undefined;
  /** The status line, or nothing when nothing is going on. */
  status: () => Row | undefined;
}

export class ChatView {
  footer = "";
  private readonly parts: ViewParts;
  /** Text of the answer that has not yet made a whole row. */
  private partial = "";
  /** Reads that may still be joined by another: they stay in the foot until something else is said. */
  private reads: Read[] = [];
  private readonly tools = new Map<string, { line: string; at: number; far?: string }>();

  constructor(parts: ViewParts) {
    this.parts = parts;
  }

  /** What a tool is doing this moment. */
  get doing(): string {
    const [first, ...others] = this.tools.values();
    if (!first) return "";
    const took = elapsed(this.parts.clock.now() - first.at);
    return words.doing(first.far === undefined ? first.line : `${first.line} (${first.far})`, took, others.length);
  }

  readonly text: TextSink = {
    write: (text) => this.stream(text),
    next: () => this.flush(),
    void: (why) => {
      this.flush();
      this.print(this.parts.paint(words.startsOver[why], "dim"));
    },
  };

  /** Lasting lines above the foot, which is drawn as things stand now. */
  print(...lines: string[]): void {
    this.draw(lines);
  }

  mine(text: string): void {
    this.flush();
    const [first = "", ...more] = visible(text).split("\n");
    this.print("", `› ${first}`, ...more.map((line) => `  ${line}`));
  }

  tool(call: { id: string; name: string; input: unknown }): void {
    this.flush();
    this.tools.set(call.id, { line: toolLine(call.name, call.input), at: this.parts.clock.now() });
    this.refresh();
  }

  toolProgress({ id, text }: { id: string; text: string }): void {
    const known = this.tools.get(id);
    if (known) known.far = oneLine(text);
    this.refresh();
  }

  toolDone(result: { id: string; name: string; text: string; isError: boolean }): void {
    const { paint, screen, clock } = this.parts;
    const known = this.tools.get(result.id);
    this.tools.delete(result.id);
    this.flush();
    const line = known?.line ?? oneLine(result.name);
    const ms = known && clock.now() - known.at;
    if (isRead(result.name) && !result.isError) {
      this.reads.push({ line, ms });
      this.refresh();
      return;
    }
    const output = result.isError ? visible(result.text).trimEnd().split("\n") : [];
    const rest = output.length > FAILED_LINES ? [words.moreLines(output.length - FAILED_LINES)] : [];
    this.print(
      this.toolRow({ line, ms }, result.isError),
      ...[...output.slice(0, FAILED_LINES), ...rest].map((out) => paint(`    ${cut(out, screen.columns - 5)}`, "dim")),
    );
  }

  private toolRow({ line, ms }: Read, isError = false): string {
    const { paint, screen } = this.parts;
    const took = ms === undefined ? "" : ` · ${duration(ms)}`;
    const glyph = isError ? paint("✕", "fail") : paint("✓", "ok");
    return `${glyph} ${paint(`${cut(line, screen.columns - 18)}${took}${isError ? " · failed" : ""}`, "dim")}`;
  }

  ended(t: TurnDetail): void {
    const { paint, clock } = this.parts;
    this.flush();
    for (const id of this.tools.keys()) this.tools.delete(id);
    this.print(
      ...(t.reason && !saysNoMore(t) ? [this.parts.ours(visible(t.reason))] : []),
      ...t.notices.map((notice) => paint(`! ${oneLine(notice)}`, "wait")),
      endLine(t, paint, clock.now()),
    );
  }

  /** Draws the foot again. */
  refresh(): void {
    this.draw([]);
  }

  /** What may still change becomes lasting: nothing more will be drawn. */
  settle(): void {
    this.flush();
    const folded = this.folded();
    if (folded.length) this.draw(folded);
  }

  /** The row of the reads so far, which then is lasting. */
  private folded(): string[] {
    const row = foldReads(this.reads);
    this.reads = [];
    return row ? [this.toolRow(row)] : [];
  }

  private draw(given: readonly string[]): void {
    const { screen, composer, status } = this.parts;
    const input = composer()?.draw(screen.columns);
    const state = status();
    const lasting = given.length || this.partial ? [...this.folded(), ...given] : given;
    const reads = foldReads(this.reads);
    const rows: Row[] = [
      ...(reads ? [{ text: `✓ ${reads.line}`, tone: "dim" as const }] : []),
      ...(this.partial ? [{ text: this.partial }] : []),
      ...(state ? [state] : []),
      { text: input?.text ?? "" },
      { text: this.footer, tone: "dim" },
    ];
    screen.show({ rows, cursor: { row: rows.length - 2, column: input?.column ?? 0 } }, lasting);
  }

  /** Whole rows become lasting; the last one stays live until it is whole. */
  private stream(text: string): void {
    const lines = (this.partial + visible(text.replaceAll("\r", ""))).split("\n");
    const room = this.parts.screen.columns - 1;
    const rows = lines.flatMap((line) => wrap(line, room));
    this.partial = rows.pop() ?? "";
    this.draw(rows);
  }

  /** The live row becomes lasting. */
  private flush(): void {
    const { partial } = this;
    this.partial = "";
    this.draw(partial.trim() ? [partial] : []);
  }
}

export function footerText(at: { agent: string; model: string; practice: boolean; cost: number | null }): string {
  const cost = at.practice || at.cost === 0 ? "" : money(at.cost);
  const who = [at.agent, at.practice ? commonWords.practiceModel : at.model, cost].filter(Boolean).join(" · ");
  return words.footer(who);
}
