/** What a person asked for by a click: busy while it runs, and what went wrong until the next try. */
import { AppError } from "./client.ts";

export class Attempt {
  problem = $state.raw<AppError>();
  busy = $state(false);

  private readonly done: () => unknown;

  /** `done` runs after each that went well. */
  constructor(done: () => unknown = () => {}) {
    this.done = done;
  }

  readonly run = async (work: () => Promise<unknown>): Promise<void> => {
    this.problem = undefined;
    this.busy = true;
    try {
      await work();
      await this.done();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.problem = error;
    } finally {
      this.busy = false;
    }
  };
}
