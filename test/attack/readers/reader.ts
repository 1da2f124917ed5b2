/** A row of the pump table: something that reads text others wrote. */
export interface Reader {
  read(text: string): unknown;
  /**
   * It refuses a text this long, and that is right. The test then expects an error for every shape: a text that is cut in
   * silence is neither read nor refused.
   */
  refuses?: boolean;
  /** Only the shapes that Markdown has characters for. */
  markdownOnly?: boolean;
}

export type Rows = Readonly<Record<string, Reader["read"] | Reader>>;

export function readersIn(rows: Rows): [name: string, reader: Reader][] {
  return Object.entries(rows).map(([name, row]) => [name, typeof row === "function" ? { read: row } : row]);
}
