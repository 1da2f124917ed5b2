/** What people read about installing a runtime. */
export const installWords = {
  npmFailed: (name: string, why: string) => `npm couldn't install ${name}: ${why}`,
  tryIt: (args: readonly string[]) => `Try it yourself: npm ${args.join(" ")}`,
  noProgram: (name: string, program: string) => `The package ${name} has no program called ${program}.`,
  noVersion: (name: string, why: string) =>
    `${name} is installed, but its program doesn't print its version${why === "" ? "" : `: ${why}`}. The one from before stays in use.`,
  scriptFailed: (name: string, script: string, why: string) =>
    `The script ${script} of ${name} failed, and its program needs it${why === "" ? "" : `: ${why}`}.`,
  notOnNpm: (title: string) =>
    `Lares doesn't know a package of ${title}. Install it as its maker says; Lares finds it in the system's folders, beside Node, or in ~/.local/bin.`,
};
