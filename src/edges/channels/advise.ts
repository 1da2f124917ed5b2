/** Keys that name a channel, an account or a person that messages can't come from, and servers that can't be ones. */
import type { Advice, AdviceContext, AdviceTable } from "../../core/contracts/index.ts";
import { nowhereToDeliver, readPerson } from "../../core/domain/index.ts";
import { nearest, parseHost, silenceAt } from "../../core/kit/index.ts";
import { ADAPTERS, whyUnreachable } from "./adapters.ts";

type GivenAccounts = Parameters<typeof whyUnreachable>[0];

/** What the gateway's own doors are called, beside the platforms. */
const OWN = ["http", "ws"];
const NAMES = [...Object.keys(ADAPTERS), ...OWN];

export const channelAdvice: AdviceTable = {
  "routing.rules.*.channel": (value, at) => unknownChannel(String(value)) ?? unusedChannel(String(value), at),
  "routing.rules.*": unknownAccount,
  "routing.rules.*.person": (value, at) => judgePerson(String(value), at),
  "routing.identities.*.*": (value) => judgeId(String(value)),
  "hooks.*.deliver": deliverable,
  "watch.*.deliver": deliverable,
  "agents.*.heartbeat.deliver": deliverable,
  "channels.irc.*.host": judgeHost,
  "channels.email.*.imapHost": judgeHost,
  "channels.email.*.smtpHost": judgeHost,
  "watch.*.host": judgeHost,
  "channels.signal.*.url": (value) => silent(value, "Start signal-cli"),
  "channels.matrix.*.homeserver": (value) => silent(value, "Start the server"),
  "channels.mattermost.*.url": (value) => silent(value, "Start the server"),
};

function unknownChannel(name: string): Advice | undefined {
  if (NAMES.includes(name)) return undefined;
  const near = nearest(name, NAMES);
  const meant = near === undefined ? "" : ` (did you mean ${near}?)`;
  return { message: `There is no channel "${name}"${meant}. Known: ${NAMES.join(", ")}.`, weight: "never" };
}

function listAccounts(channel: string, at: AdviceContext): string[] {
  return Object.keys((at.config.channels as GivenAccounts)[channel] ?? {});
}

function unusedChannel(channel: string, at: AdviceContext): Advice | undefined {
  if (OWN.includes(channel) || listAccounts(channel, at).length > 0) return undefined;
  return { message: `No message comes from ${channel}: it isn't connected. Connect it: lares channels add ${channel}` };
}

function unknownAccount(value: unknown, at: AdviceContext): Advice | undefined {
  const { channel, account } = value as { channel?: string; account?: string };
  // Without a channel, and at the gateway's own doors, an account may be anything.
  if (channel === undefined || account === undefined || !(channel in ADAPTERS)) return undefined;
  const known = listAccounts(channel, at);
  if (known.length === 0 || known.includes(account)) return undefined;
  return { message: `There is no account "${account}" on ${channel}. Known: ${known.join(", ")}.` };
}

function judgePerson(person: string, at: AdviceContext): Advice | undefined {
  const { identities } = at.config.routing as { identities: Readonly<Record<string, unknown>> };
  if (Object.hasOwn(identities, person)) return undefined;
  const { channel } = readPerson(person);
  if (channel !== undefined) return unknownChannel(channel);
  return {
    message: `Nobody is called "${person}". Add the name to routing.identities, or give an id as telegram:123.`,
  };
}

function judgeId(id: string): Advice | undefined {
  const { channel } = readPerson(id);
  if (channel !== undefined) return unknownChannel(channel);
  return { message: `"${id}" isn't a person's id. Write the channel first, such as telegram:123.`, weight: "never" };
}

function deliverable(value: unknown, at: AdviceContext): Advice | undefined {
  const route = value as { channel: string; account: string };
  const unknown = unknownChannel(route.channel);
  if (unknown) return unknown;
  const why = whyUnreachable(at.config.channels as GivenAccounts, route);
  if (!why) return undefined;
  const { message, hint } = nowhereToDeliver(route, why);
  return { message: [message, hint].filter(Boolean).join(" ") };
}

function judgeHost(value: unknown): Advice | undefined {
  const given = String(value);
  if (parseHost(given)) return undefined;
  const bare = URL.canParse(given) ? new URL(given).hostname : "";
  const example = bare === "" ? "irc.example.org" : bare;
  const message = `"${given}" isn't a server's name. Give the name alone, without a protocol, port or path, such as ${example}.`;
  return { message, weight: "never" };
}

async function silent(value: unknown, remedy: string): Promise<Advice | undefined> {
  const silence = await silenceAt(String(value));
  return silence === undefined ? undefined : { message: `${silence}. ${remedy}, or correct the address.` };
}
