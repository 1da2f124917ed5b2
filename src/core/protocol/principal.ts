/** Rights and who has them. Scopes are computed by the server from a credential, never taken from a client (AU-01). */
/** `approvals` is separate from `write`: a program that may chat must not be able to say yes to itself. */
/** `peer` allows A2A calls only: another agent is a guest and gets no other method. */
export type Scope = "read" | "write" | "approvals" | "admin" | "peer";
export const SCOPES: readonly Scope[] = ["read", "write", "approvals", "admin", "peer"];

/** Who calls. Names in the history and in audits come from here. */
export interface Principal {
  /** Stable: sessions, idempotency keys and answers are filed under it. */
  id: string;
  /** For people: "owner", or the token's name. */
  name: string;
  scopes: ReadonlySet<Scope>;
  /** What was shown: `owner`, a token's id or a browser login's id. Revoking it ends everything that rests on it. */
  credential: string;
}
