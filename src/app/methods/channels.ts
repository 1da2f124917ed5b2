/** Handlers of `channels.*`. */
import { type Json, readAccountName, toAccountName } from "../../core/domain/index.ts";
import { type Log, truthy } from "../../core/kit/index.ts";
import { askAccount, ChannelSetup } from "../../edges/channels/index.ts";
import { type AccountStatus, forgetAccount } from "../../flow/channels/index.ts";
import { deliveriesOn } from "../../flow/outbox/index.ts";
import { forgetAdmitted } from "../../flow/turns/index.ts";
import { explainIssues } from "../../ground/config/index.ts";
import type { Vault } from "../../ground/vault/index.ts";
import type { LaresSettings } from "../config.ts";
import type { Asks, MethodParts, Methods } from "./parts.ts";

export interface ChannelMethodParts
  extends Pick<MethodParts, "home" | "clock">,
    Asks<"channels" | "records" | "engine"> {
  settings: Pick<LaresSettings, "view" | "change">;
  vault: Pick<Vault, "set" | "remove" | "where">;
  log: Log;
}

export function makeChannelMethods(parts: ChannelMethodParts): Methods<"channels"> {
  const channels = () => parts.instance().channels;
  const pairings = () => channels().pairings;
  // Made for each call: the settings it works on may have changed since the last one.
  const setup = () => openSetup(parts);
  return {
    "channels.list": async () => ({ channels: channels().accounts.list().map(wire) }),
    async "channels.status"({ name }) {
      const found = channels().accounts.find(name);
      const { committed } = parts.instance().records;
      return { ...wire(found), ...(await deliveriesOn(committed, found.channel, found.account)) };
    },
    "channels.kinds": async () => ({ kinds: setup().kinds() }),
    "channels.check": ({ channel, fields }) => setup().check(channel, fields as Record<string, Json>),
    "channels.install": async ({ channel }) => ({ packages: await setup().install(channel) }),
    "channels.add": ({ channel, account, fields, replace }) =>
      setup().add({ channel, account }, fields as Record<string, Json>, replace),
    async "channels.remove"({ name }) {
      const { channel, account } = channels().accounts.find(name);
      await setup().remove({ channel, account });
      return { removed: true };
    },
    async "channels.test"({ name, chat }) {
      const { channel, account } = channels().accounts.find(name);
      // Asks through the account's own channel, which is what will send and receive later.
      const who = await askAccount(name, () => channels().accounts.get(channel, account)!.open());
      if (chat !== undefined) await channels().sendTrial({ channel, account, chat });
      return { ...who, sent: chat !== undefined };
    },
    "channels.pending": async () => ({
      pending: (await pairings().list()).map((p) => ({
        code: p.code,
        name: toAccountName(p),
        sender: p.sender,
        askedAt: p.asked_at,
        expiresAt: p.expires_at,
        ...truthy({ calledThemselves: p.name }),
      })),
    }),
    async "channels.approve"({ code, role = "known" }, caller) {
      const found = await pairings().approve(code, caller.principal.id, role);
      return { name: toAccountName(found), sender: found.sender, role };
    },
    async "channels.refuse"({ code }) {
      const found = await pairings().refuse(code);
      return { name: toAccountName(found), sender: found.sender };
    },
    "channels.people": async () => ({
      people: (await pairings().grants()).map(({ sender, context, role, by, at, ...of }) => ({
        name: toAccountName(of),
        sender,
        context,
        role,
        by,
        at,
        ...truthy({ calledThemselves: of.name }),
      })),
    }),
    async "channels.revoke"({ name, sender, context = "direct" }) {
      // The name is taken apart and not looked up, so that people of an account that is no longer connected can be revoked too.
      const at = readAccountName(name);
      if (at) await pairings().revoke({ ...at, sender, context });
      return { revoked: true };
    },
  };
}

function openSetup({ home, clock, log, settings, vault, instance }: ChannelMethodParts): ChannelSetup {
  const { channels, records, engine } = instance();
  return new ChannelSetup({
    home,
    clock,
    log,
    vault,
    libraries: channels.libraries,
    accounts: channels.accounts,
    config: () => settings.view.channels,
    change: (edits) => settings.change(edits),
    // The ids of messages seen are kept in three places. If one kept them, an account added again would take old messages for
    // known.
    forget: (at) =>
      forgetAccount(
        {
          records,
          forgetAdmitted: (ids) => forgetAdmitted(records, ids),
          forgetIds: (ids) => engine.forgetIds(ids),
        },
        at,
      ),
    explain: explainIssues,
  });
}

/** Undefined would vanish in JSON. Null says that this platform doesn't know. */
function wire({ hearing, sending, ...one }: AccountStatus) {
  return { name: toAccountName(one), ...one, hearing: hearing ?? null, sending: sending ?? null };
}
