/**
 * Calls of one reply run side by side, but a command that may move or link files runs alone: what another one's words lead to was looked up
 * before it started, and it opens its files at any time until it ends. First come, first served.
 */
export class OneMover {
  private mover: Promise<unknown> = Promise.resolve();
  private others: Promise<unknown>[] = [];

  run<T>(moves: boolean, work: () => Promise<T>): Promise<T> {
    const before = moves ? Promise.all([this.mover, ...this.others]) : this.mover;
    const running = before.then(work);
    const over = running.catch(() => {});
    if (moves) [this.mover, this.others] = [over, []];
    else this.others.push(over);
    return running;
  }
}
