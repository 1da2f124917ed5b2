/** What `lares channels` says. */

import type { Hint } from "../output.ts";
import { plural } from "./plural.ts";

export const channelWords = {
  some: (n: number, failed: number) => `${plural(n, "channel")}${failed ? `, ${failed} failed` : ""}.`,
  none: (hint: Hint) => hint`No channels connected. Connect one: lares channels add`,
  notKnown: "not known",
  nothingSent: "nothing sent yet",
  knownAs: "known as",
  unreadable: (hint: Hint, n: number) => hint`${plural(n, "message")}; see: lares logs`,
  skipped: (which: string) => `${which}: crashed Lares twice`,
  deliveries: (sent: number, waiting: number, uncertain: number, failed: number) =>
    `${sent} sent, ${waiting} pending, ${uncertain} not confirmed, ${failed} failed`,
  lastError: "last error",
  installing: (packages: string) => `Installing ${packages} …`,
  needs: (title: string, field: string, what: string) => `${title} needs ${field}: ${what}.`,
  needsHint: (field: string) => `Give it: --set ${field}=- with the value on stdin.`,
  checking: "Checking with the platform …",
  testSent: (hint: Hint, name: string) => hint`  A test message is on its way. Check it: lares channels status ${name}`,
  removeQuestion: (name: string) => `Remove ${name}, its secrets and its accepted people?`,
  removed: (name: string) =>
    `Removed ${name} with its secrets, people, position and history. If you add it again, it starts from scratch.`,
  conversationsStay: (hint: Hint) => hint`Conversations stay: lares sessions list`,
  whichKind: "Which kind of channel?",
  kinds: (kinds: string) => `One of: ${kinds}.`,
  whichOne: "Which one?",
  unknown: (typed: string) => `There is no channel "${typed}".`,
  known: (names: string) => `Available: ${names}.`,
  notAField: (given: string) => `"${given}" isn't field=value.`,
  notAFieldHint: "For example: --set token=@token.txt",
};

export const peopleWords = {
  waiting: (hint: Hint, n: number) =>
    hint`${plural(n, "person", "people")} waiting. Accept one: lares channels approve CODE`,
  noneWaiting: "No one is waiting.",
  minutesLeft: (minutes: number) => `${minutes} min left`,
  accepted: (sender: string, name: string, isOwner: boolean) =>
    `${sender} can now message ${name}${isOwner ? ", and answer approvals" : ""}.`,
  declined: (sender: string) => `Declined ${sender}.`,
  some: (n: number) => `${plural(n, "person", "people")} accepted.`,
  none: "No one has been accepted here. Allow lists are in lares.yaml.",
  group: (context: string) => `group ${context}`,
  revoked: (sender: string, name: string) => `${sender} can no longer message ${name}.`,
};
