/** Settings that are well written and still don't work: what rooms say about their own keys. */

export interface ConfigAdvice {
  /** The key it is about: `agents.main.model`. */
  path: string;
  /** A sentence, with the way out. */
  message: string;
  /**
   * `never`: nothing else that is set can make it work, so setting it is refused. `note`: it works, but not as one may think.
   * `new`: it works and creates something, which is said when it is set and isn't a fault of the file.
   */
  weight?: "never" | "note" | "new";
  /** It is in use all the same, and does less than it seems to. */
  holds?: true;
}

/** What advice depends on besides the value. */
export interface AdviceContext {
  /** All settings by section, with their defaults. */
  config: Readonly<Record<string, unknown>>;
  /** The environment of the program that asks. */
  env: Readonly<Record<string, string | undefined>>;
  /** Agents that have a folder in the home; they need no entry in the file. */
  folders: readonly string[];
  /** Names and ids of the jobs there are. Only the running program knows them. */
  jobs?: readonly string[];
  /** The folder of Lares, which no other folder may contain. */
  home: string;
  /** Asked by the running program: its environment is the one that counts. */
  running: boolean;
  /** The present moment, for what is said in words. */
  now: number;
}

export type Advice = Omit<ConfigAdvice, "path">;

/** By key: `*` stands for any name or number. `name` is the last part of the key: which name stands for `*` there. */
export type AdviceTable = Readonly<
  Record<string, (value: unknown, at: AdviceContext, name: string) => Advice | undefined | Promise<Advice | undefined>>
>;
