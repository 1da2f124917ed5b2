/** Something read from the gateway for a page: again after every new connection, and when told. Old values stay meanwhile. */
import { app } from "./app.svelte.ts";
import { AppError } from "./client.ts";

export class Loaded<T> {
  value: T | undefined = $state.raw();
  error: AppError | undefined = $state.raw();
  private readonly work: () => Promise<T>;
  private round = 0;

  constructor(work: () => Promise<T>) {
    this.work = work;
    $effect(() => {
      app.epoch;
      void this.read();
    });
  }

  readonly read = async (): Promise<void> => {
    const round = ++this.round;
    try {
      const value = await this.work();
      if (round !== this.round) return;
      this.value = value;
      this.error = undefined;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (round === this.round) this.error = error;
    }
  };

  /** Reads again when one of these events arrives. */
  on(...events: string[]): this {
    let timer: ReturnType<typeof setTimeout> | undefined;
    $effect(() =>
      app.onLiveEvent((liveEvent) => {
        if (!events.includes(liveEvent.event)) return;
        clearTimeout(timer);
        timer = setTimeout(() => void this.read(), 120);
      }),
    );
    return this;
  }
}
