/** Counts the sockets that have not yet shown a credential, in all and from each address (DO-01). */
const MOST = 64;
const MOST_EACH = 32;

export class Strangers {
  readonly #byAddress = new Map<string, number>();

  /** Whether no more may come from this address. */
  isFull(address: string): boolean {
    const all = [...this.#byAddress.values()].reduce((sum, n) => sum + n, 0);
    return all >= MOST || this.#count(address) >= MOST_EACH;
  }

  add(address: string): void {
    this.#byAddress.set(address, this.#count(address) + 1);
  }

  remove(address: string): void {
    const left = this.#count(address) - 1;
    if (left > 0) this.#byAddress.set(address, left);
    else this.#byAddress.delete(address);
  }

  #count(address: string): number {
    return this.#byAddress.get(address) ?? 0;
  }
}
