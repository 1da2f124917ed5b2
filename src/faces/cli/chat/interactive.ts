/**
 * `lares chat` in a terminal: type while it works, answer approvals with a word, stop with Ctrl-C.
 *
 * CHAT-5: Ctrl-C stops what runs; a second one within two seconds, or while it is still stopping, leaves.
 * CHAT-6: what is sent while the gateway is away is kept and sent when it is back, under the same key.
 */
import { randomUUID } from "node:crypto";
import { AppError, type ApprovalDecision, howToType, type QuestionForm } from "../../../core/domain/index.ts";
import { defined } from "../../../core/kit/index.ts";
import type { Approval, Result, TurnDetail } from "../../../core/protocol/index.ts";
import { modelLine } from "../commands/gateway.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { clockTime, duration, elapsed, oneLine } from "../format.ts";
import { askCard } from "../lines.ts";
import { wrap } from "../width.ts";
import { chatWords as words } from "../words/chat.ts";
import { commonWords } from "../words/common.ts";
import { target } from "./command.ts";
import { completeSlash, type SlashCommand } from "./complete.ts";
import { Composer } from "./composer.ts";
import { Conversation } from "./conversation.ts";
import { type Events, followEvents } from "./events.ts";
import { type ChatHistory, openHistory } from "./history.ts";
import { Questions } from "./questions.ts";
import { type Row, Screen } from "./screen.ts";
import { ChatView, footerText } from "./view.ts";

const STILL_WAITS: ReadonlySet<string> = new Set(["GATEWAY_DOWN", "BAD_REQUEST"]);

/** The second Ctrl-C counts for so long. */
const TWICE_MS = 2000;

export async function converse(ctx: Context): Promise<number> {
  const status = await ctx.rpc.call("status", {});
  const chat = new Chat(ctx, status);
  return chat.run();
}

class Chat {
  private readonly ctx: Context;
  private readonly status: Result<"status">;
  private readonly view: ChatView;
  private readonly screen: Screen;
  private readonly conversation: Conversation;
  private readonly questions: Questions;
  private readonly history: ChatHistory;
  private commands: readonly SlashCommand[] = [];
  private composer: Composer | undefined;
  private leave!: (code: number) => void;
  private began = 0;
  private cost: number | null = 0;
  private hint = "";
  private isStopping = false;
  private interruptedAt = Number.NEGATIVE_INFINITY;
  private lostAt: number | undefined;
  private lostWhy: string | undefined;
  private nextTryAt = 0;
  private ticking: (() => void) | undefined;
  private refreshing: NodeJS.Immediate | undefined;
  private readonly answering = new Set<string>();

  constructor(ctx: Context, status: Result<"status">) {
    const { clock, rpc, ports, out } = ctx;
    this.ctx = ctx;
    this.status = status;
    this.history = openHistory(ctx.home);
    this.screen = new Screen(ports.stdout, out.paint);
    this.view = new ChatView({
      screen: this.screen,
      paint: out.paint,
      ours: out.ours,
      clock,
      composer: () => this.composer,
      status: () => this.statusRow(),
    });
    this.conversation = new Conversation({
      rpc,
      clock,
      target: target(ctx),
      watcher: {
        text: this.view.text,
        tool: (call) => this.view.tool(call),
        toolProgress: (progress) => this.view.toolProgress(progress),
        toolDone: (result) => this.view.toolDone(result),
        asked: (approval) => {
          this.questions.add(approval);
          this.view.refresh();
        },
        answered: (answer) => this.answered(answer),
        ended: (turn) => this.ended(turn),
        gone: (error) => this.trouble(error),
      },
    });
    this.questions = new Questions({
      clock,
      onFront: (approval) => this.view.print(...askCard(approval, out.paint, clock.now(), this.screen.columns)),
      lineIsEmpty: () => this.composer?.isEmpty ?? true,
      onAnswer: (approval, decision, answers) => void this.answer(approval, decision, answers),
    });
  }

  async run(): Promise<number> {
    const { ctx } = this;
    const { stdin, stdout } = ctx.ports;
    const left = new Promise<number>((resolve) => {
      this.leave = resolve;
    });
    const events = await this.follow();
    this.banner();
    this.composer = new Composer({
      input: stdin,
      output: stdout,
      history: this.history.lines,
      complete: (line) => this.complete(line),
      onMessage: (text) => this.entered(text),
      onInterrupt: () => this.interrupt(),
      onEnd: () => this.leave(EXIT.done),
      onChange: () => {
        this.questions.typed();
        this.refreshSoon();
      },
      onTooLong: (most) => {
        this.hint = words.tooLong(most.toLocaleString("en"));
      },
      onKey: () => {
        this.hint = "";
      },
    });
    this.view.refresh();
    void this.learnCommands();
    if (ctx.options.session) void this.conversation.resume();
    const resized = () => this.view.refresh();
    stdout.on("resize", resized);
    const off = [
      ctx.onSignal("SIGINT", () => this.interrupt()),
      ctx.onSignal("SIGTERM", () => this.leave(EXIT.interrupted)),
    ];
    const hold = setInterval(() => {}, 2 ** 30);
    try {
      return await left;
    } finally {
      clearInterval(hold);
      for (const stop of off) stop();
      stdout.off("resize", resized);
      this.goodbye();
      events.close();
    }
  }

  private follow(): Promise<Events> {
    const { find, clock } = this.ctx;
    return followEvents({
      find,
      clock,
      onEvent: (event) => {
        this.conversation.onEvent(event);
      },
      onOpen: ({ first, restarted }) => {
        if (first) return;
        this.lostAt = undefined;
        this.view.print(this.ctx.out.paint(restarted ? commonWords.restarted : commonWords.reconnected, "dim"));
        this.conversation.reconnected(restarted);
        this.view.refresh();
      },
      onLost: ({ inMs, why }) => {
        this.lostAt ??= clock.now();
        this.lostWhy = why;
        this.nextTryAt = clock.now() + inMs;
        this.view.refresh();
        this.tick();
      },
    });
  }

  private banner(): void {
    const { out, options } = this.ctx;
    const { model } = this.status;
    const agent = options.agent ?? words.yourAgent;
    this.footer(agent);
    const who = words.youTalkTo(agent, options.session);
    // Not at the beginning of the sentence: a model's id is written as it is.
    const rows = wrap(words.model(modelLine(model)), this.screen.columns - 1);
    this.view.print(who, ...rows.map((row) => out.paint(row, model.practice ? "wait" : "dim")));
  }

  private footer(agent: string): void {
    const { id, practice } = this.status.model;
    this.view.footer = footerText({ agent, model: id, practice, cost: this.cost });
  }

  private async send(text: string): Promise<void> {
    if (!this.conversation.isBusy) this.began = this.ctx.clock.now();
    this.hint = "";
    this.history.add(text);
    this.view.mine(text);
    const sent = this.conversation.send(text, { key: `cli-${randomUUID()}`, patient: true });
    this.tick();
    try {
      const isNew = this.conversation.session === undefined;
      await sent;
      if (isNew) void this.conversation.resume();
    } catch (error) {
      this.trouble(error);
    }
    this.view.refresh();
  }

  /** Only for Tab: the commands themselves are the server's. */
  private async learnCommands(): Promise<void> {
    try {
      const { agent } = this.ctx.options;
      this.commands = (await this.ctx.rpc.call("commands.list", defined({ agent }))).commands;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
    }
  }

  private complete(line: string): string | undefined {
    const completed = completeSlash(line, this.commands);
    if (completed?.options.length) this.hint = completed.options.map(({ name }) => `/${name}`).join("  ");
    return completed?.line;
  }

  /** An answer to the question in front, or a message. */
  private entered(text: string): void {
    if (!this.questions.line(text)) void this.send(text);
  }

  private async answer(approval: Approval, decision: ApprovalDecision, answers?: string): Promise<void> {
    const { paint } = this.ctx.out;
    this.answering.add(approval.id);
    try {
      await this.conversation.resolve(approval.id, decision, answers);
      const said = approval.form ? words.passedOn[decision === "deny" ? "no" : "yes"] : words.decided[decision];
      this.view.print(paint(said, decision === "deny" ? "dim" : "ok"));
    } catch (error) {
      // It still waits: nobody was reached, or the answer didn't fit.
      if (error instanceof AppError && STILL_WAITS.has(error.code)) this.questions.add(approval);
      this.trouble(error);
    }
    this.view.refresh();
  }

  private answered({ id, state, by }: { id: string; state: string; by: string }): void {
    if (!this.answering.has(id)) this.view.print(this.ctx.out.paint(words.answeredBy(state, oneLine(by)), "dim"));
    this.questions.remove(id);
    this.view.refresh();
  }

  private ended(turn: TurnDetail): void {
    const { out } = this.ctx;
    this.questions.removeTurn(turn.turn);
    this.isStopping = false;
    if (turn.usage) {
      const { cost } = turn.usage;
      this.cost = this.cost === null || cost === null ? null : this.cost + cost;
    }
    this.footer(turn.agent);
    this.view.ended(turn);
    if (turn.failure === "stopped-lares") {
      this.view.print(out.paint(words.whatItDid(out.hint, turn.turn), "dim"));
    }
    this.view.refresh();
  }

  private trouble(error: unknown): void {
    const { message, hint } = error as { message: string; hint?: string };
    const { paint, ours } = this.ctx.out;
    this.view.print(paint(`✕ ${[message, hint && ours(hint)].filter(Boolean).join(" ")}`, "fail"));
    this.view.refresh();
  }

  private interrupt(): void {
    const now = this.ctx.clock.now();
    if (this.isStopping || now - this.interruptedAt < TWICE_MS) {
      this.leave(EXIT.interrupted);
      return;
    }
    this.interruptedAt = now;
    if (this.conversation.turns.length) {
      this.isStopping = true;
      this.hint = "";
      this.conversation.abort().catch((error: unknown) => {
        this.isStopping = false;
        this.trouble(error);
      });
    } else if (this.composer && !this.composer.isEmpty) this.composer.clear();
    else this.hint = words.ctrlCAgain;
    this.view.refresh();
  }

  private statusRow(): Row | undefined {
    const { clock } = this.ctx;
    const { front } = this.questions;
    if (this.lostAt !== undefined) {
      const wait = duration(Math.max(this.nextTryAt - clock.now(), 0));
      const why = this.lostWhy ? ` ${this.lostWhy}` : "";
      const text = words.noConnection(clockTime(this.lostAt), wait, why);
      return { text, tone: "wait" };
    }
    if (this.hint) return { text: this.hint, tone: "dim" };
    if (this.isStopping) return { text: words.stopping, tone: "dim" };
    if (front) {
      const more = this.questions.waitingBehind ? words.moreAfter(this.questions.waitingBehind) : "";
      const how = this.questions.isTypingOther ? words.answersAfterTyping : howToAnswerHere(front);
      return { text: words.waiting(how, more), tone: "wait" };
    }
    // Turns from before that wait for a person have their question; those that wait for a time are not shown.
    if (!this.conversation.isSending && !this.conversation.turns.length) return undefined;
    const took = elapsed(clock.now() - this.began);
    return { text: ["● running", took, this.view.doing].filter(Boolean).join(" · ") };
  }

  /** Once for all keys that came together: a paste without brackets is thousands of them. */
  private refreshSoon(): void {
    this.refreshing ??= setImmediate(() => {
      this.refreshing = undefined;
      this.view.refresh();
    });
  }

  /** Once a second, while something goes on: the seconds on the status line. */
  private tick(): void {
    this.ticking?.();
    this.ticking = this.ctx.clock.after(1000, () => {
      this.view.refresh();
      if (this.conversation.isBusy || this.lostAt !== undefined) this.tick();
    });
  }

  private goodbye(): void {
    const { turns, session } = this.conversation;
    const { out } = this.ctx;
    this.ticking?.();
    clearImmediate(this.refreshing);
    this.conversation.close();
    this.view.settle();
    this.screen.clear();
    this.composer?.close();
    const [turn] = turns;
    if (turn && !this.isStopping) out.say(words.continues(out.hint, turn));
    if (session) out.say(out.paint(words.comeBack(out.hint, session), "dim"));
  }
}

function howToAnswerHere({ form }: Approval): string {
  if (!form) return words.answers;
  return form.fields.length > 0 ? words.fillIn(howToType(form as QuestionForm)) : words.yesOrNo;
}
