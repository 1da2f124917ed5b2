/** Accounts come and go while Lares runs: asked about with the platform, written to the file, their secrets in the vault. */
import { rm } from "node:fs/promises";
import type { z } from "zod";
import type { AccountPolicy, Channel } from "../../../core/contracts/index.ts";
import { AppError, type Json, toAccountName } from "../../../core/domain/index.ts";
import { asSentence } from "../../../core/kit/index.ts";
import { ADAPTERS, accountFolder, configured, type OpeningParts } from "../adapters.ts";
import { type AccountAsked, askAccount } from "./ask.ts";
import { hideSecrets, secretName } from "./secrets.ts";

export interface ChannelSetupParts extends OpeningParts {
  /** The accounts of a channel as they are set now, their secrets filled in. */
  config: () => Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;
  /** Changes lares.yaml in one step; `undefined` removes a key. Throws when the result would not hold. */
  change: (edits: readonly (readonly [path: readonly string[], value: Json | undefined])[]) => Promise<unknown>;
  vault: {
    /** Durable when it resolves. */
    set(name: string, value: string): Promise<void>;
    remove(name: string): Promise<boolean>;
    /** In plain words. */
    where(): string;
  };
  accounts: {
    list(): readonly At[];
    get(channel: string, account: string): { open(): Promise<Channel> } | undefined;
    policy(at: At): Pick<AccountPolicy, "dm"> | undefined;
  };
  /** Nothing of an account of this name is left in the records. */
  forget: (at: At) => Promise<void>;
  /** What a schema refused, in the words a reader of the file gets. */
  explain: (error: z.ZodError, given: unknown) => string[];
}

type At = { channel: string; account: string };
type Fields = Readonly<Record<string, Json>>;

export class ChannelSetup {
  private readonly parts: ChannelSetupParts;

  constructor(parts: ChannelSetupParts) {
    this.parts = parts;
  }

  kinds() {
    const { libraries } = this.parts;
    return Object.values(ADAPTERS).map(({ name, title, asks, secrets, packages = [] }) => ({
      name,
      title,
      asks: asks.map((ask) => ({ ...ask, secret: secrets.includes(ask.field) })),
      packages: [...packages],
      installed: packages.every((one) => libraries.isInstalled(one)),
    }));
  }

  async install(channel: string): Promise<string[]> {
    const { packages = [] } = findEntry(channel);
    await this.parts.libraries.install(packages);
    return [...packages];
  }

  /** Asks the platform with these fields as they are. */
  async check(channel: string, fields: Fields): Promise<AccountAsked> {
    const entry = findEntry(channel);
    const missing = (entry.packages ?? []).filter((name) => !this.parts.libraries.isInstalled(name));
    if (missing.length) {
      throw new AppError("BAD_REQUEST", {
        message: `${entry.title} needs ${missing.join(", ")}.`,
        hint: `Install it: lares channels add ${channel}`,
      });
    }
    const parsed = entry.config.safeParse(fields);
    if (!parsed.success) throw this.wrongFields(channel, parsed.error, fields);
    const account = configured(entry, "check", parsed.data, this.parts);
    return askAccount(entry.title, () => account.open());
  }

  /** `replace`: gives an account that is there these values. */
  async add(at: At, fields: Fields, replace = false) {
    const { accounts, change, vault } = this.parts;
    const { channel, account } = at;
    const name = toAccountName({ channel, account });
    const { secrets } = findEntry(channel);
    const before = this.present(at);
    if (before && !replace) {
      throw new AppError("CONFLICT", {
        message: `There is ${name} already.`,
        hint: "Choose another name for the new one (--name), or give that one these values (--replace).",
        details: { replaces: name },
      });
    }
    const who = await this.check(channel, { ...before, ...fields });
    await this.mustBeNew(at, { ...before, ...fields }, who.id);
    const kept = await hideSecrets({ ...at, secrets }, fields, (secret, value) => vault.set(secret, value));
    const path = ["channels", channel, account];
    // Removed by hand in the file, or by a process that died half-way: it starts as new all the same.
    if (!before) await this.parts.forget(at);
    await change(before ? Object.entries(kept).map(([key, value]) => [[...path, key], value]) : [[path, kept]]);
    const pairs = accounts.policy(at)?.dm === "pairing";
    const hint = pairs
      ? `Write to ${who.name} there; it answers with a code. Let yourself in: lares channels approve CODE --owner`
      : `Write to ${who.name} there.`;
    return { name, who, hint, pairs, where: vault.where() };
  }

  async remove(at: At): Promise<void> {
    const { channel, account } = at;
    await this.parts.change([[["channels", channel, account], undefined]]);
    await this.parts.forget(at);
    await rm(accountFolder(this.parts.home, at), { recursive: true, force: true });
    for (const field of findEntry(channel).secrets) {
      await this.parts.vault.remove(secretName(channel, account, field));
    }
  }

  private present({ channel, account }: At): Fields | undefined {
    return this.parts.config()[channel]?.[account] as Fields | undefined;
  }

  /** The same bot under two names would take its messages from itself. An id counts where it was given: on that server. */
  private async mustBeNew({ channel, account }: At, fields: Fields, id: string): Promise<void> {
    const { accounts } = this.parts;
    const mine = nameServer(findEntry(channel).config.parse(fields));
    for (const other of accounts.list().filter((one) => one.channel === channel && one.account !== account)) {
      if (nameServer(this.present(other) ?? {}) !== mine) continue;
      const name = toAccountName(other);
      const open = accounts.get(channel, other.account)?.open;
      const found = open && (await askAccount(name, open).catch(() => undefined));
      if (found?.id !== id) continue;
      throw new AppError("CONFLICT", {
        message: `${found.name} is connected already, as ${name}.`,
        hint: `Give that one new values with --name ${other.account} --replace, or another bot's here.`,
      });
    }
  }

  private wrongFields(channel: string, error: z.ZodError, given: Fields): AppError {
    const { title, asks } = findEntry(channel);
    const issue = error.issues[0]!;
    const field = issue.path.join(".");
    const [why = "they aren't complete"] = this.parts.explain(error, given);
    const what = asks.find((ask) => ask.field === issue.path[0])?.what;
    return new AppError("BAD_REQUEST", {
      message: `${title} can't be connected with these settings: ${asSentence(why)}`,
      ...(what ? { hint: `${field}: ${what}.` } : {}),
      details: { field },
    });
  }
}

function findEntry(channel: string) {
  const entry = Object.hasOwn(ADAPTERS, channel) ? ADAPTERS[channel] : undefined;
  if (entry) return entry;
  const hint = `Known: ${Object.keys(ADAPTERS).join(", ")}.`;
  throw new AppError("CHANNEL_UNKNOWN", { message: `There is no kind of channel "${channel}".`, hint });
}

/** Where an account is: two with the same are on the same server. */
function nameServer(given: Fields): string {
  return JSON.stringify(
    Object.entries(given).filter(([field]) => /^(url|apiUrl|homeserver|imapHost|host|service)$/.test(field)),
  );
}
