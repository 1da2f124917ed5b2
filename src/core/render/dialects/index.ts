import type { Dialect, DialectName } from "../dialect.ts";
import { irc, nostr, plain, signal, xmpp } from "./lines.ts";
import { commonmark, discord, mattermost, slack, whatsapp } from "./marked.ts";
import { email, matrix, teams, telegram } from "./tagged.ts";

export const dialects: Readonly<Record<DialectName, Dialect>> = {
  plain,
  commonmark,
  telegram,
  slack,
  discord,
  whatsapp,
  matrix,
  mattermost,
  email,
  xmpp,
  signal,
  irc,
  teams,
  nostr,
};
