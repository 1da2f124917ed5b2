/**
 * Scenarios of the conformance suite that count for a revision and don't pass, each with the reason. One that passes after all is
 * reported too, so that this list stays true.
 */
export type Revision = "2025-11-25" | "2026-07-28";
export const REVISIONS: readonly Revision[] = ["2025-11-25", "2026-07-28"];

/** By role and revision, scenario and reason. Nothing is left at the moment. */
export const KNOWN: Record<"server" | "client", Record<Revision, Readonly<Record<string, string>>>> = {
  server: { "2025-11-25": {}, "2026-07-28": {} },
  client: { "2025-11-25": {}, "2026-07-28": {} },
};
