/** What a runtime and people read about a trial. */
export const trialWords = {
  first: (mark: string) => `This is a trial run by Lares (${mark}). Do what the model says, and nothing else.`,
  second: (mark: string) => `This is the second part of the trial (${mark}).`,
  steer: (mark: string) => `By the way: ${mark}.`,
  noPerson: "Nobody is there to answer during a trial.",
  denied: "Lares tries out what happens when an action is denied.",
  noRequest: (title: string, why: string | null) =>
    `${title} didn't call its model through Lares, so nothing could be tried${why === null ? "." : `: ${why}`}`,
  ownModels: (title: string) => `${title} calls its models itself, so Lares can't try it out on a scripted one.`,
  noVersion: (title: string) =>
    `${title} took too long to say its version, and what is seen counts for one version only. Try again when this machine is less busy.`,
  oneBlock: "Its answer came in one block.",
  noUsage: "It didn't report what it used.",
  didDenied: "It did what was denied.",
  didUnasked: "It acted without asking.",
  asksSome: "It asked before some of its actions, not before all of them.",
  didNotDo: "It asked, but what was allowed didn't happen.",
  notSteered: "What was said while it worked didn't reach its model.",
  forgot: "In a new process it didn't know what was said before.",
  notInterrupted: "It didn't stop when it was interrupted.",
};
