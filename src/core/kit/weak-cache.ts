/**
 * Values that are worked out of objects and kept as long as those live. A WeakMap drops its dead entries, but heap snapshots under
 * load showed two tables doubling, to half a megabyte more each, with hardly more entries in them. So after `most` entries a new
 * table is started, and what is still in use moves there when it is read.
 */
export class WeakCache<Key extends object, Value> {
  private readonly most: number;
  private current = new WeakMap<Key, Value>();
  private previous = new WeakMap<Key, Value>();
  private entries = 0;

  /** `most`: with as many other objects in between, a value is worked out again. */
  constructor(most: number) {
    this.most = most;
  }

  get(key: Key): Value | undefined {
    const known = this.current.get(key);
    if (known !== undefined) return known;
    const older = this.previous.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: Key, value: Value): void {
    if (this.entries >= this.most) {
      this.previous = this.current;
      this.current = new WeakMap();
      this.entries = 0;
    }
    this.entries++;
    this.current.set(key, value);
  }
}
