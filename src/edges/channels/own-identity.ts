/** Who the account is on its platform: asked once, then remembered, because an adapter must recognise its own messages. */
export class OwnIdentity<T> {
  private readonly ask: (signal: AbortSignal) => Promise<T>;
  private known: T | undefined;

  constructor(ask: (signal: AbortSignal) => Promise<T>) {
    this.ask = ask;
  }

  async get(signal: AbortSignal): Promise<T> {
    return this.known ?? this.refresh(signal);
  }

  /** Asks in any case: at a new connection, and to see whether the credentials work. */
  async refresh(signal: AbortSignal): Promise<T> {
    this.known = await this.ask(signal);
    return this.known;
  }
}
