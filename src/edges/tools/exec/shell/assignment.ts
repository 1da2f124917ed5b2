/**
 * Variables set in a command. None is ever covered by a rule. Those that change which code a program loads, or where it
 * fetches code from, are refused; the rest is asked about with its value shown.
 */
import type { ShellReason, ShellWord } from "../../../../core/contracts/index.ts";
import { visibleLine } from "../../escape.ts";

/** Families, because the names are many and new ones come; a name missed here still asks. */
const LOADS: readonly RegExp[] = [
  /^(LD|DYLD|GLIBC|MALLOC|GCONV|LOCPATH|NLSPATH|HOSTALIASES|RES_OPTIONS|RESOLV)(_|$)|^(GCONV_PATH|GETCONF_DIR)$/,
  /^(BASH_ENV|ENV|BASH_FUNC_.*|BASH_LOADABLES_PATH|ZDOTDIR|FPATH|CDPATH|GLOBIGNORE|HISTFILE|INPUTRC|TERMINFO.*|TERMCAP)$/,
  /^(PATH|IFS|SHELL|HOME|USER|LOGNAME|PWD|OLDPWD|TMPDIR|XDG_.*|MANPATH|INFOPATH|DISPLAY|EXECIGNORE|POSIXLY_CORRECT)$/,
  /^(NODE|NPM|YARN|PNPM|BUN|DENO|TS_NODE|TSX|ELECTRON|COREPACK|VITE)_/i,
  /^PYTHON|^(PIP|PIPX|UV|POETRY|CONDA|VIRTUAL_ENV|PYENV|TWINE|SETUPTOOLS|DISTUTILS|PYTEST|PDM|HATCH)(_|$)/,
  /^PERL|^RUBY|^(GEM|BUNDLE|BUNDLER|RBENV|RAKE|IRB|PRYRC)(_|$)|^(RUBYOPT|RUBYLIB|PRYRC|IRBRC)$/,
  /^(JAVA|JDK|_JAVA|JRE|MAVEN|GRADLE|SBT|ANT|KOTLIN|SCALA|GROOVY|CLASSPATH)(_|$)|^(CLASSPATH|M2_HOME|MVN_.*)$/,
  /^(CC|CXX|CPP|LD|AR|AS|NM|RANLIB|STRIP|OBJCOPY|FC|F77|LEX|YACC|CFLAGS|CXXFLAGS|CPPFLAGS|LDFLAGS|LIBS|LINKER)$/,
  /^(GCC|COMPILER|LIBRARY|C_INCLUDE|CPLUS_INCLUDE|OBJC_INCLUDE|CPATH|PKG_CONFIG|CCACHE|DISTCC|SCCACHE|CMAKE|MESON)(_|$)/,
  /^(RUST|CARGO|RUSTUP|RUSTC|RUSTFLAGS|RUSTDOC)/,
  /^(GO|CGO)_|^GO(PATH|ROOT|PROXY|FLAGS|ENV|BIN|SUMDB|NOSUMDB|PRIVATE|INSECURE|TOOLCHAIN|AUTH|VCS)$/,
  /^(MAKE|MFLAGS|GNUMAKE|MAKEFLAGS|MAKEFILES|NINJA|BAZEL|BUCK)/,
  /^(GIT|SSH|GPG|GNUPG|HG|HGRCPATH|SVN|CVS|BZR|FOSSIL|GH)(_|$)|^(HGRCPATH|HGEDITOR|GNUPGHOME|SVN_EDITOR|CVS_RSH|RSYNC_.*)$/,
  /^(CLOUDSDK|AWS|AZURE|GOOGLE|GCLOUD|KUBE|KUBECONFIG|DOCKER|PODMAN|CONTAINER|HELM|TF|TERRAFORM|ANSIBLE|VAULT|PULUMI)(_|$)/,
  /^(EDITOR|VISUAL|PAGER|BROWSER|MANPAGER|MANROFFOPT|LESS.*|MORE|LV|FCEDIT|SUDO_.*|BAT_PAGER|DELTA_PAGER|RIPGREP_CONFIG_PATH)$/,
  /^(HTTP|HTTPS|ALL|FTP|NO|SOCKS|RSYNC)_PROXY$/i,
  /^(CURL|WGET|SSL|REQUESTS|OPENSSL|NIX_SSL)_|^(WGETRC|CURL_HOME|SSLKEYLOGFILE|OPENSSL_CONF|NIX_PATH|HOMEBREW_.*|TAR_OPTIONS|TAR|ZIPOPT|UNZIP|GZIP|BZIP2?|XZ_OPT|XZ_DEFAULTS|ZSTD_.*)$/,
  /^(LUA|TCL|JULIA|OCAML|ERL|ERLANG|ELIXIR|MIX|GHC|CABAL|GUILE|EMACS|VIM|EXINIT|NVIM|PHP|COMPOSER)[A-Z0-9]*(_|$)|^R_/,
  /^(AWKPATH|AWKLIBPATH|GREP_OPTIONS|LS_OPTIONS|POSIX.*|GAWK_.*|FIND_.*|PARALLEL.*|XARGS.*|SCREENRC|TMUX.*)$/,
  /^(QT|GTK|GDK|GIO|GST|DBUS|WAYLAND|PULSE|ALSA|VK|MESA|LIBGL|CUDA|OCL|OPENCL|KRB5|SASL|PAM|NSS|ODBC|MYSQL|PG|SQLITE|ORACLE)[A-Z0-9]*(_|$)/,
  /(PRELOAD|_OPTIONS|_OPTS|OPTS|_WRAPPER|_STARTUP|STARTUP|_PLUGINS?|_MODULES?_PATH|_LIBRARY_PATH|_INDEX_URL|_REGISTRY|_CONFIG|_PROGRAM|_COMMAND|_CMD|_EXEC|_SHELL|_EDITOR|_PAGER|_ASKPASS|_HOOKS?|_PYTHON|_HELPER|_PATH)$/,
  /^(DOTNET|COMPLUS|CORECLR|COR|MONO|NUGET|MSBUILD|POWERSHELL|PSMODULEPATH)/i,
  /^LARES_/,
];
/** bash runs these as commands, or prints with them what it runs; shown with their value, because a person can judge it. */
const TRACES = /^(PS0|PS1|PS2|PS3|PS4|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|BASH_XTRACEFD|PROMPT_DIRTRIM)$/;

export function assignmentReason(name: string, value: ShellWord): ShellReason {
  const shown = `${visibleLine(name)}=${visibleLine(value.literal ?? value.guess)}`;
  const short = shown.length > 120 ? `${shown.slice(0, 80)} […] ${shown.slice(-30)}` : shown;
  if (TRACES.test(name)) return { kind: "assignment", text: `It sets ${short}, which the shell itself evaluates.` };
  if (loadsCode(name)) {
    return { kind: "load-assignment", text: `It sets ${short}, which changes what programs load, run or reach.` };
  }
  return { kind: "assignment", text: `It sets ${short}.` };
}

/** `IFS` in front of `read`. */
export const SPLITS_LINE: ShellReason = { kind: "assignment", text: "It sets how read splits a line." };

function loadsCode(name: string): boolean {
  return LOADS.some((family) => family.test(name));
}

/** `NAME=value` and `NAME+=value`, also the function form `BASH_FUNC_ls%%=`. */
export function splitAssignment(word: string): { name: string; value: string } | undefined {
  const match = /^([A-Za-z_][A-Za-z0-9_]*(?:%%|\(\))?)\+?=([\s\S]*)$/.exec(word);
  return match ? { name: match[1]!, value: match[2]! } : undefined;
}
