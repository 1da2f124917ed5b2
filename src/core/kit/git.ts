/** What every git that Lares starts by itself has switched off: a repository's settings name programs, and somebody else wrote them. */

/** Settings win over the repository's own when they come by the environment. */
export const GIT_SWITCHED_OFF: readonly (readonly [key: string, value: string])[] = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.pager", "cat"],
  ["core.editor", "false"],
  ["core.sshCommand", "false"],
  ["core.askPass", "false"],
  ["diff.ignoreSubmodules", "all"],
  ["status.submoduleSummary", "false"],
  ["interactive.diffFilter", ""],
  ["protocol.ext.allow", "never"],
];

/** As variables. */
export function settingsAsVariables(
  settings: readonly (readonly [key: string, value: string])[],
): Record<string, string> {
  const env: Record<string, string> = { GIT_CONFIG_COUNT: String(settings.length) };
  for (const [i, [key, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${i}`] = key;
    env[`GIT_CONFIG_VALUE_${i}`] = value;
  }
  return env;
}
