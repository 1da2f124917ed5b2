import { expect, it, onTestFinished } from "vitest";
import { dayIn, longStamp, showsLocally, stampIn } from "./stamp.ts";

const at = (text: string) => Date.parse(text);

it("shows a moment as a clock on the wall there does, minute after minute", () => {
  const shown = (zone: string, text: string) => longStamp(stampIn(zone, at(text)));
  expect(shown("Europe/Berlin", "2026-11-15T12:09:00Z")).toBe("Sun 2026-11-15 13:09 +01:00");
  expect(shown("Europe/Berlin", "2026-11-15T12:09:59.999Z")).toBe("Sun 2026-11-15 13:09 +01:00");
  expect(shown("Europe/Berlin", "2026-11-15T12:10:00Z")).toBe("Sun 2026-11-15 13:10 +01:00");
  expect(shown("Asia/Kathmandu", "2026-11-15T12:10:00Z")).toBe("Sun 2026-11-15 17:55 +05:45");
  expect(shown("Europe/Berlin", "2026-11-15T12:08:00Z")).toBe("Sun 2026-11-15 13:08 +01:00");
  expect(shown("UTC", "2026-11-15T12:08:00Z")).toBe("Sun 2026-11-15 12:08 +00:00");
});

it("follows a clock that changes from one minute to the next", () => {
  expect(stampIn("Europe/Berlin", at("2026-10-25T00:59:59Z"))).toMatchObject({ time: "02:59", offset: "+02:00" });
  expect(stampIn("Europe/Berlin", at("2026-10-25T01:00:00Z"))).toMatchObject({ time: "02:00", offset: "+01:00" });
  expect(dayIn("Europe/Berlin", "2026-10-25")).toEqual({
    from: at("2026-10-24T22:00:00Z"),
    to: at("2026-10-25T23:00:00Z"),
  });
});

it("keeps the seconds by which zones were off before 1973", () => {
  // Liberia was 44 minutes and 30 seconds behind until 1972.
  expect(stampIn("Africa/Monrovia", at("1971-06-01T12:00:29Z")).time).toBe("11:15");
  expect(stampIn("Africa/Monrovia", at("1971-06-01T12:00:31Z")).time).toBe("11:16");
});

it.each(["UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kathmandu", "Australia/Lord_Howe"])(
  "reads the same from the process's own clock as from a formatter: %s",
  (zone) => {
    const { TZ } = process.env;
    onTestFinished(() => {
      if (TZ === undefined) delete process.env.TZ;
      else process.env.TZ = TZ;
      showsLocally(undefined);
    });
    // Every five hours over three years, so that each clock change is passed in both directions of the day.
    const moments = Array.from({ length: 5_256 }, (_, i) => at("2025-01-01T00:30:00Z") + i * 5 * 3_600_000);
    const byFormatter = moments.map((moment) => stampIn(zone, moment));
    process.env.TZ = zone;
    showsLocally(zone);
    expect(moments.map((moment) => stampIn(zone, moment))).toEqual(byFormatter);
    // Another clock than the formatter's, or the comparison would say nothing.
    process.env.TZ = "Pacific/Kiritimati";
    expect(stampIn(zone, at("2026-06-01T12:00:00Z"))).toMatchObject({ time: "02:00", offset: "+14:00" });
  },
);
