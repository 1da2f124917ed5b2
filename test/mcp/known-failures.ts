/**
 * Scenarios of the conformance suite that count for a revision and don't pass, each with the reason. One that passes after all is
 * reported too, so that this list stays true.
 */
export type Revision = "2025-11-25" | "2026-07-28";
export const REVISIONS: readonly Revision[] = ["2025-11-25", "2026-07-28"];

const LOGIN = "Not tried: the driver of these scenarios has no login.";

const login = (...names: string[]) => Object.fromEntries(names.map((name) => [`auth/${name}`, LOGIN]));

const BOTH = login(
  ...[
    "metadata-default",
    "metadata-var1",
    "metadata-var2",
    "metadata-var3",
    "basic-cimd",
    "scope-from-www-authenticate",
  ],
  ...["scope-from-scopes-supported", "scope-omitted-when-undefined", "scope-step-up", "scope-retry-limit"],
  ...["token-endpoint-auth-basic", "token-endpoint-auth-post", "token-endpoint-auth-none", "pre-registration"],
);

export const KNOWN: Record<"server" | "client", Record<Revision, Readonly<Record<string, string>>>> = {
  server: { "2025-11-25": {}, "2026-07-28": {} },
  client: {
    "2025-11-25": BOTH,
    "2026-07-28": {
      ...BOTH,
      ...login(
        ...[
          "resource-mismatch",
          "offline-access-scope",
          "offline-access-not-supported",
          "authorization-server-migration",
        ],
        ...["iss-supported", "iss-not-advertised", "iss-supported-missing", "iss-wrong-issuer", "iss-unexpected"],
        ...["iss-normalized", "metadata-issuer-mismatch"],
      ),
    },
  },
};
