/** Who spoke last in each session. What a session sees of memory depends on who takes part, so somebody new may change it. */

/** Sessions whose last speaker is remembered; a forgotten one costs reading its context again. */
const MOST_SESSIONS = 2000;

export class Speakers {
  private readonly last = new Map<string, string>();

  /** Whether somebody else spoke before. An event is nobody. */
  changed(session: string, person: string | undefined): boolean {
    if (person === undefined) return false;
    const before = this.last.get(session);
    if (this.last.size >= MOST_SESSIONS && before === undefined) this.last.delete(this.last.keys().next().value!);
    this.last.set(session, person);
    return before !== undefined && before !== person;
  }
}
