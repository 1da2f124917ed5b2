/** A value that is replaced while others hold on to where it is found. */
export class Current<T> {
  private value: T;

  constructor(value: T) {
    this.value = value;
  }

  set(value: T): void {
    this.value = value;
  }

  /** Can be handed on by itself. */
  readonly get = (): T => this.value;
}

/** Something that is needed before it is built: set once while the program is put together, asked for only when it runs. */
export class Late<T> {
  private value: T | undefined;

  set(value: T): T {
    if (this.value !== undefined) throw new Error("A late part is set once.");
    this.value = value;
    return value;
  }

  /** Can be handed on by itself: `accounts: late.get`. */
  readonly get = (): T => {
    if (this.value === undefined) throw new Error("A late part was asked for before it was built.");
    return this.value;
  };
}
