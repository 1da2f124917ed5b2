/**
 * One call at a server, from sending to its outcome. A server of the older era holds the call open while it asks a person
 * something; the turn is parked meanwhile, and the call lives here until the answer comes, its time is up, or Lares ends.
 *
 * MCP-14: an open question has a time. Past it, or with a question that no person should get, the server gets a no and the call
 *     comes to its end; what it asked and did not get is said with the outcome.
 */
import type { JsonObject, QuestionAnswer } from "../../../../core/domain/index.ts";
import type { Clock } from "../../../../core/kit/index.ts";
import type { Sampled } from "../sampling/sampling.ts";
import type { CallOutcome } from "./call.ts";
import { type ReadQuestion, readQuestion } from "./questions.ts";

/** The turn's own deadline comes first; this is for a turn that was stopped. */
const GRACE_MS = 2000;

export type OpenQuestion = Exclude<ReadQuestion, { refused: string }> & { until: number };

/** Has a model write something for the server. */
export interface Sampler {
  ask(params: unknown): Promise<Sampled>;
  /** A person agreed to it. */
  allow(): void;
}

export interface OpenCallParts {
  server: string;
  clock: Clock;
  /** How long the server may stay silent. */
  quietMs: number;
  /** How long it is kept waiting for a person. */
  askMs: number;
  onSample?: Sampler;
}

export class OpenCall {
  readonly #parts: OpenCallParts;
  readonly #abort = new AbortController();
  #outcome: Promise<CallOutcome> | undefined;
  #isOver = false;
  #question: OpenQuestion | undefined;
  #tellQuestion: (() => void) | undefined;
  #reply: ((answer: QuestionAnswer) => void) | undefined;
  #stopQuiet: () => void = () => {};
  /** What the server asked and did not get, for the model and the person. */
  readonly notes: string[] = [];

  constructor(parts: OpenCallParts) {
    this.#parts = parts;
  }

  /** `run` gets a signal that aborts when the call is given up. */
  start(run: (signal: AbortSignal) => Promise<CallOutcome>): void {
    this.heard();
    this.#outcome = run(this.#abort.signal).finally(() => {
      this.#isOver = true;
      this.#stopQuiet();
      this.#reply?.({ action: "cancel" });
    });
    // Looked at in `wait`; an outcome that nobody waits for is not a crash.
    this.#outcome.catch(() => undefined);
  }

  /** It has come to its end, also if nobody looked at that yet. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The server said something: its silence counts from now. */
  heard(): void {
    this.#stopQuiet();
    if (this.#reply) return;
    const { clock, quietMs } = this.#parts;
    this.#stopQuiet = clock.after(quietMs, () => this.#abort.abort(new Error(`no answer for ${quietMs / 1000} s`)));
  }

  /** The server asks. Resolves when a person answered, or didn't in time. */
  async ask(params: unknown): Promise<QuestionAnswer> {
    const { server } = this.#parts;
    const read = readQuestion(server, params);
    const why = "refused" in read ? read.refused : this.#reply && `${server} asked two things at once`;
    if ("refused" in read || why) {
      this.notes.push(`${why}. It was declined.`);
      return { action: "decline" };
    }
    return this.#put(read);
  }

  /** The server wants text from a model. Throws in words for the server. */
  async sample(params: unknown): Promise<JsonObject> {
    const { onSample, server } = this.#parts;
    this.#stopQuiet();
    let sampled = await onSample?.ask(params);
    if (sampled?.kind === "ask" && !this.#reply && (await this.#put(sampled)).action === "accept") {
      onSample?.allow();
      sampled = await onSample?.ask(params);
    }
    this.heard();
    if (sampled?.kind === "sampled") return sampled.result;
    const why = sampled?.kind === "refused" ? sampled.why : `${server} wanted text from a model, and nobody agreed.`;
    this.notes.push(why);
    throw new Error(why);
  }

  async #put({ shown, form }: Omit<OpenQuestion, "until">): Promise<QuestionAnswer> {
    const { server, clock, askMs } = this.#parts;
    this.#stopQuiet();
    const until = clock.now() + askMs;
    const answer = await new Promise<QuestionAnswer>((resolve) => {
      const stop = clock.after(askMs + GRACE_MS, () => resolve({ action: "cancel" }));
      this.#reply = (given) => {
        stop();
        resolve(given);
      };
      this.#question = { shown, form, until };
      this.#tellQuestion?.();
    });
    this.#reply = undefined;
    this.#question = undefined;
    if (answer.action === "cancel") this.notes.push(`${server} asked something and nobody answered in time.`);
    this.heard();
    return answer;
  }

  /** Passes on what a person said to the open question. */
  answer(given: QuestionAnswer): void {
    this.#reply?.(given);
    this.#question = undefined;
  }

  /** Its outcome, or a question that a person has to answer first. */
  async wait(signal: AbortSignal): Promise<CallOutcome | { kind: "asks"; question: OpenQuestion }> {
    const giveUp = () => this.#abort.abort(signal.reason);
    if (signal.aborted) giveUp();
    signal.addEventListener("abort", giveUp, { once: true });
    const asked = new Promise<"asked">((resolve) => {
      this.#tellQuestion = () => resolve("asked");
      if (this.#question) resolve("asked");
    });
    try {
      const first = await Promise.race([this.#outcome!, asked]);
      return first === "asked" ? { kind: "asks", question: this.#question! } : first;
    } finally {
      this.#tellQuestion = undefined;
      signal.removeEventListener("abort", giveUp);
    }
  }
}
