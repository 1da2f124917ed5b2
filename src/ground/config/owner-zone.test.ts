import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { showsLocally } from "../../core/kit/index.ts";
import { makeOwnerZone, readMachineZone } from "./owner-zone.ts";

const byFormatter = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

function linkTo(target: string | undefined): string {
  const dir = mkdtempSync(join(tmpdir(), "lares-zone-"));
  onTestFinished(() => {
    rmSync(dir, { recursive: true, force: true });
    showsLocally(undefined);
  });
  const file = join(dir, "localtime");
  if (target === undefined) writeFileSync(file, "");
  else symlinkSync(target, file);
  return file;
}

it.each([
  ["/usr/share/zoneinfo/Europe/Berlin", "Europe/Berlin"],
  ["../usr/share/zoneinfo/America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"],
  ["/var/db/timezone/zoneinfo/Asia/Kathmandu", "Asia/Kathmandu"],
  ["/usr/share/zoneinfo/Etc/UTC", "UTC"],
  ["/usr/share/zoneinfo/Etc/GMT+5", "Etc/GMT+5"],
])("the machine's zone is the one its link names: %s", (target, zone) => {
  expect(readMachineZone(linkTo(target), undefined)).toBe(zone);
});

it("is asked of a formatter where a variable sets it, or no link names it", () => {
  expect(readMachineZone(linkTo("/usr/share/zoneinfo/Europe/Berlin"), "Asia/Tokyo")).toBe(byFormatter());
  expect(readMachineZone(linkTo("/somewhere/else"), undefined)).toBe(byFormatter());
  expect(readMachineZone(linkTo(undefined), undefined)).toBe(byFormatter());
  expect(readMachineZone("/nowhere/localtime", undefined)).toBe(byFormatter());
});

it("gives way to the owner's own setting, also when that changes", () => {
  const config: { time: { zone?: string } } = { time: {} };
  const zone = makeOwnerZone(config);
  const machine = zone();
  config.time.zone = "Europe/Lisbon";
  expect(zone()).toBe("Europe/Lisbon");
  delete config.time.zone;
  expect(zone()).toBe(machine);
});
