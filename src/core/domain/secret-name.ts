/** A secret becomes a variable of its name, so it is called as variables are. */
const NAME = /^[A-Za-z][A-Za-z0-9_]{0,127}$/;

/** How a setting refers to a secret in the vault: as its whole value. */
export function secretReference(name: string): string {
  return `vault:${name}`;
}

/** The secret's name; nothing when the text refers to none. */
export function readSecretReference(text: string): string | undefined {
  return /^vault:(\S+)$/.exec(text)?.[1];
}

/** Also one that is not finished: a value that begins so is never a secret itself. */
export function beginsSecretReference(text: string): boolean {
  return text.startsWith("vault:");
}

export function isVariableName(name: string): boolean {
  return NAME.test(name);
}

/** Never repeats what was given: `NAME=value` has the value in it. */
export const NOT_A_SECRET_NAME = "That can't be a secret's name.";
export const SECRET_NAME_HINT = "Use letters, digits and _, beginning with a letter. Example: GITHUB_TOKEN";
