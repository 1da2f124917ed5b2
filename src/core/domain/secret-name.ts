/** A secret becomes a variable of its name, so it is called as variables are. */
const NAME = /^[A-Za-z][A-Za-z0-9_]{0,127}$/;

export function isVariableName(name: string): boolean {
  return NAME.test(name);
}

/** Never repeats what was given: `NAME=value` has the value in it. */
export const NOT_A_SECRET_NAME = "That cannot be the name of a secret.";
export const SECRET_NAME_HINT = "Use letters, digits and _, beginning with a letter. Example: GITHUB_TOKEN";
