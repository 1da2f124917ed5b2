/** A map that stays small: once it is full, it forgets the entry that was set longest ago. For what can be asked for again. */
export class RecentMap<V> extends Map<string, V> {
  private readonly most: number;

  constructor(most: number) {
    super();
    this.most = most;
  }

  override set(key: string, value: V): this {
    // Deleted first, so that an entry that is set again moves to the end of the map's order.
    this.delete(key);
    super.set(key, value);
    if (this.size > this.most) this.delete(this.keys().next().value as string);
    return this;
  }
}
