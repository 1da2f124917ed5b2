/** For strangers: where things lie on this machine is not theirs to know. */
export function withoutPaths(text: string, folders: readonly string[]): string {
  return folders.filter((folder) => folder.length > 1).reduce((said, folder) => said.replaceAll(folder, "…"), text);
}
