/** What people read about tasks, and what agents read about them. */

export interface WaitsFor {
  who: "person" | "event";
  name?: string;
  about: string;
}

export const UNBLOCK = "Remove what blocks it, then unblock it.";
