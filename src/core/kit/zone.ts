/** Whether the time zone database has this name. */
export function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** For a setting that names one. */
export const NO_ZONE = "no such time zone; use a name such as Europe/Lisbon, America/New_York or UTC";
