/** How often a peer may speak. In memory: after a restart everyone starts with an empty minute, which harms nobody. */
const MINUTE_MS = 60_000;

export class Rate {
  private readonly spoken = new Map<string, number[]>();

  /** False: too often. What is refused isn't counted, so a peer that waits gets through. */
  take(peer: string, most: number, now: number): boolean {
    const recent = (this.spoken.get(peer) ?? []).filter((at) => now - at < MINUTE_MS);
    const isFree = recent.length < most;
    if (isFree) recent.push(now);
    this.spoken.set(peer, recent);
    return isFree;
  }
}
