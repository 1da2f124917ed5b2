/** What people read about OpenClaw, besides what is said of every run. */
export const TITLE = "OpenClaw";
const INSTALL = "npm install -g openclaw, then: openclaw onboard";
const SETTINGS = "~/.openclaw/openclaw.json";

export const clawWords = {
  missing: `There are no settings of OpenClaw here (${SETTINGS}). Install it: ${INSTALL}`,
  unreadable: `Lares can't read the settings of OpenClaw (${SETTINGS}). Run: openclaw doctor`,
  elsewhere: `OpenClaw's gateway runs on another machine (gateway.mode in ${SETTINGS}). Lares drives one on this machine only.`,
  noToken: `OpenClaw's gateway has no token that Lares can read (gateway.auth.token in ${SETTINGS}). Run: openclaw onboard`,
  away: (url: string) => `OpenClaw's gateway doesn't answer at ${url}. Start it: openclaw gateway start`,
  badToken: `OpenClaw's gateway doesn't take the token in ${SETTINGS}. Restart it: openclaw gateway restart`,
  unpaired: (request: string) =>
    `OpenClaw's gateway wants this device to be approved. Run: openclaw devices approve ${request}`.trimEnd(),
  otherProtocol: (expected: unknown) =>
    `OpenClaw's gateway speaks version ${String(expected)} of its protocol, and Lares speaks version 4.`,
  refused: (why: string) => `OpenClaw's gateway refused the connection: ${why}`,
  closed: "The connection to its gateway was closed.",
  noAnswer: (method: string) => `Its gateway didn't answer ${method}.`,
  gone: "The conversation isn't there any more.",
  lost: "The connection to its gateway is lost, and it didn't come back.",
  notKnown: "Its gateway no longer knows this run.",
  noResult: "OpenClaw reported no result.",
};
