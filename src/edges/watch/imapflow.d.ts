/** What of imapflow is used. The package is optional: neither it nor its types need be there. */
declare module "imapflow" {
  export class ImapFlow {
    constructor(options: object);
    connect(): Promise<void>;
    mailboxOpen(
      path: string,
      options: { readOnly: boolean },
    ): Promise<{ uidValidity: bigint | number; uidNext: number }>;
    fetch(
      range: string,
      query: { uid: true; envelope: true; source: { maxLength: number } },
      options: { uid: boolean },
    ): AsyncIterable<{
      uid: number;
      envelope?: { subject?: string; date?: Date; from?: { name?: string; address?: string }[] };
      source?: Buffer;
    }>;
    logout(): Promise<void>;
    close(): void;
    on(event: "error", listener: (error: Error) => void): void;
  }
}
