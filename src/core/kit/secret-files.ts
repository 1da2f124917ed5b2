/** Files that hold secrets wherever they lie, by name only: there or not (EX-33). */
const SECRET_FILE =
  /(^|\/)(\.env(\.(?!example|sample|template)[^/]*)?|[^/]*\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk)|id_(rsa|dsa|ecdsa|ed25519)|\.netrc|\.npmrc|\.pypirc|\.pgpass|\.git-credentials|\.htpasswd|credentials(\.(json|ya?ml|toml|ini))?|secrets?\.(json|ya?ml|toml|env)|service-account[^/]*\.json|token(s)?\.json)$/i;

export function isSecretFile(path: string): boolean {
  return SECRET_FILE.test(path);
}
