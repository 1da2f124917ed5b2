/**
 * Files that tell a program what to build, test, install or run: Makefile, package.json, conftest.py, every name with a leading dot. With
 * rules for `cp` and for `make` alone, a copy onto such a file would choose what make runs. So a program that may write asks about one,
 * unless a rule for writing covers it: that is the owner's word that the agent may change what its tasks do. Pure.
 */

/** By their names: a list, because code that is merely tested or built can't be distinguished from the rest of somebody's work. */
const STEERS =
  /^((gnu)?makefile(\.(am|in|common|inc|local))?|.*\.(mk|cmake|gradle|gradle\.kts|csproj|sln|props|targets|bazel|bzl|nix|gemspec|tf)|(rake|gem|cap|guard|vagrant|docker|container|jenkins|proc|just|pip|pod|brew|fast|dangerfile|earth|tilt|cake)file(\.\w+)?|taskfile\.ya?ml|conftest\.py|setup\.(py|cfg)|(site|user)customize\.py|(nox|fab)file\.py|(tasks|dodo|manage)\.py|wscript|sconstruct|.*\.pth|(pytest|tox|mypy|pylint|ansible)\.(ini|cfg)|pyproject\.toml|pipfile|poetry\.lock|uv\.lock|requirements.*\.txt|constraints.*\.txt|cargo\.(toml|lock)|build\.rs|rust-toolchain(\.toml)?|go\.(mod|sum|work)|cmakelists\.txt|meson\.build|build\.(xml|sbt|zig|ninja|boot)|pom\.xml|mix\.exs|rebar\.config|composer\.(json|lock)|(package|package-lock|npm-shrinkwrap|bower|lerna|nx|turbo|rush|angular|project|jsr|deno|bunfig|mcp|opencode|crush|lefthook|vercel|firebase|renovate|ecosystem|devcontainer)\.(jsonc?|ya?ml|toml)|yarn\.lock|pnpm-(lock|workspace)\.yaml|pnpmfile\.c?js|(gulp|grunt)file\.[cm]?[jt]s|[jt]sconfig.*\.json|.*(\.|-)(config|conf|setup|workspace|preset)\.([cm]?[jt]sx?|jsonc?|ya?ml)|(docker-)?compose.*\.ya?ml|cloudbuild\.ya?ml|azure-pipelines\.ya?ml|mise\.toml|flake\.nix|lares\.yaml)$/i;
/** Of Bazel; in small letters they are folders and tasks. */
const STEERS_IN_CAPITALS = /^(BUILD|WORKSPACE)$/;
/** Hidden, but only a list of names or a mark. */
const HARMLESS =
  /^\.((git|docker|npm|prettier|eslint|stylelint|helm|gcloud|vercel|rg|fd)ignore|gitkeep|keep|nojekyll)$/;

/** `path` as seen from the agent's folder. */
export function isSteering(path: string): boolean {
  const parts = path.split("/").filter((part) => !/^\.*$/.test(part));
  const name = parts.pop() ?? "";
  if (parts.some((part) => part.startsWith("."))) return true;
  return name.startsWith(".") ? !HARMLESS.test(name) : STEERS.test(name) || STEERS_IN_CAPITALS.test(name);
}
