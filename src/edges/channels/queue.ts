/** Between a socket, which calls back whenever it likes, and a loop that handles one thing at a time, in order. */
export class Queue<T> {
  private readonly waiting: T[] = [];
  private ended: { error: unknown } | undefined;
  private wake = () => {};

  push(item: T): void {
    this.waiting.push(item);
    this.wake();
  }

  /** Nothing more will come. Only the first error counts: later ones follow from it. */
  end(error: unknown): void {
    this.ended ??= { error };
    this.wake();
  }

  /** Gives what was pushed, in order, also what came before the end; then throws the error. */
  async *items(): AsyncGenerator<T, never> {
    for (;;) {
      const next = this.waiting.shift();
      if (next !== undefined) {
        yield next;
        continue;
      }
      if (this.ended) throw this.ended.error;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}
