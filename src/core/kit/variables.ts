/**
 * Variables of the environment that change which code a program runs or whom it talks to (EN-01 to EN-09). Nobody hands one to
 * a child process: not as a secret, not in the definition of a server or a runtime. Commands get an environment built from
 * nothing; this is for the few variables that are added to it by name.
 */
const FAMILIES = [
  // The shell and the loader.
  "PATH|HOME|SHELL|IFS|ENV|PS4|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|CDPATH|GLOBIGNORE|ZDOTDIR|BASH_.*|LD_.*|DYLD_.*|GLIBC_TUNABLES",
  // Languages.
  "NODE_.*|NPM_.*|DENO_.*|BUN_.*|PYTHON.*|PIP_.*|UV_.*|VIRTUAL_ENV|PERL.*|RUBY.*|GEM_.*|BUNDLE_.*|LUA_.*|PHP.*|R_.*",
  "JAVA_.*|JDK_.*|_JAVA_OPTIONS|CLASSPATH|MAVEN_.*|GRADLE_.*|ANT_.*|DOTNET_.*|CORECLR_.*|GO(FLAGS|PROXY|ROOT|PATH|TOOLCHAIN|ENV)",
  // Tools that start others.
  "CC|CXX|LD|AR|MAKE.*|CMAKE_.*|CFLAGS|CXXFLAGS|LDFLAGS|RUST.*|CARGO.*|HGRCPATH|CLOUDSDK_PYTHON.*",
  "GIT_.*|SSH_ASKPASS|SSH_AUTH_SOCK|EDITOR|VISUAL|PAGER|LESS.*|MANPAGER|BROWSER|SUDO_.*|DOCKER_.*|KUBECONFIG",
  // Where everything goes through, and what is trusted on the way.
  "(HTTPS?|ALL|NO|FTP)_PROXY|SSL_CERT_.*|CURL_.*|REQUESTS_CA_BUNDLE|OPENSSL_.*",
];
const NEVER = /^(?:LARES|LD|DYLD|BASH)_/i;
/** A credential of such a tool is only read by it: NPM_TOKEN, CARGO_REGISTRY_TOKEN. */
const CREDENTIAL = /_(?:TOKEN|PASSWORD|SECRET|API_KEY|ACCESS_KEY)$/i;
const STEERS = new RegExp(`^(?:${FAMILIES.join("|")})$`, "i");

export function steersPrograms(variable: string): boolean {
  return NEVER.test(variable) || (STEERS.test(variable) && !CREDENTIAL.test(variable));
}
