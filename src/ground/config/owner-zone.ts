import { readlinkSync } from "node:fs";
import { showsLocally } from "../../core/kit/index.ts";

/** The owner's time zone: the one in the settings, else the machine's. */
export function makeOwnerZone(config: { readonly time: { readonly zone?: string | undefined } }): () => string {
  let machine: string | undefined;
  return () => {
    // Asked for every message, and a formatter takes a tenth of a millisecond to make.
    machine ??= readMachineZone();
    return config.time.zone ?? machine;
  };
}

/** Names that mean UTC, as links and containers have them. */
const UTC = /^(Etc\/)?(UTC|UCT|Zulu|Universal)$/;

/**
 * The zone of this machine. The first formatter of a process takes 13 ms, which the first answer after a start would wait for; where the
 * system names its zone by a link, reading the link says the same, and stamps in that zone need no formatter either.
 */
export function readMachineZone(localtime = "/etc/localtime", variable = process.env.TZ): string {
  const linked = variable ? undefined : readZoneLink(localtime);
  if (linked === undefined) return Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zone = UTC.test(linked) ? "UTC" : linked;
  showsLocally(zone);
  return zone;
}

function readZoneLink(localtime: string): string | undefined {
  try {
    return /\/zoneinfo\/([A-Za-z][\w+-]*(?:\/[\w+-]+){0,2})$/.exec(readlinkSync(localtime))?.[1];
  } catch {
    return undefined;
  }
}
