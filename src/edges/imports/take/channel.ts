/** Takes accounts of channels: switched off, their secrets only when that was asked for. */
import { type Json, type JsonObject, secretReference } from "../../../core/domain/index.ts";
import {
  type ImportRun,
  type ItemOf,
  makeUnlessDryRun,
  type Outcome,
  reportExisting,
  reportSkipped,
} from "./outcome.ts";

export async function takeChannel(run: ImportRun, item: ItemOf<"channel">): Promise<Outcome> {
  const becomes = `channels.${item.channel}.${item.account}`;
  if (run.accounts.has(item.channel, item.account)) return reportExisting(becomes);
  if (item.secrets.length > 0 && !run.secrets)
    return reportSkipped("Its token is a secret: taken only with --with-secrets.", becomes);
  const why = [
    "Not connected yet.",
    ...accessWords(item),
    `Switch the old one off, then: lares config set ${becomes}.enabled true`,
  ].join(" ");
  return makeUnlessDryRun(run, becomes, () => addAccount(run, item), why);
}

async function addAccount(run: ImportRun, item: ItemOf<"channel">): Promise<void> {
  const settings: Record<string, Json> = {
    ...item.settings,
    ...(item.access as JsonObject | undefined),
    enabled: false,
  };
  for (const field of item.secrets) {
    const name = `${item.channel}_${item.account}_${field}`.toUpperCase().replace(/[^A-Z0-9]+/g, "_");
    await run.keepSecret(name, item.settings[field]!);
    settings[field] = secretReference(name);
  }
  await run.accounts.add(item.channel, item.account, settings);
}

/** Read before it is switched on: these people may write to it from then on. */
function accessWords({ access = {}, wasOpen }: ItemOf<"channel">): string[] {
  const groups = Object.keys(access.groups ?? {});
  return [
    ...(access.allow?.length ? [`May write to it then: ${access.allow.join(", ")}.`] : []),
    ...(groups.length ? [`It listens in: ${groups.join(", ")}.`] : []),
    ...(wasOpen ? ["It was open to everybody there; here it isn't."] : []),
  ];
}
