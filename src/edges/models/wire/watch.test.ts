import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../core/kit/index.ts";
import { pauseOrAbort, watch } from "./watch.ts";

describe("watch", () => {
  const setup = () => {
    const clock = new ManualClock();
    const silences: string[] = [];
    const watcher = watch(clock, { firstByteMs: 100, idleMs: 10 }, (code, ms) => silences.push(`${code} ${ms}`));
    return { clock, silences, watcher };
  };

  it("waits the first-byte limit for the first word", () => {
    const { clock, silences } = setup();
    clock.advance(99);
    expect(silences).toEqual([]);
    clock.advance(1);
    expect(silences).toEqual(["FIRST_BYTE_TIMEOUT 100"]);
  });

  it("counts the idle limit from the last word, not from the first", () => {
    const { clock, silences, watcher } = setup();
    clock.advance(50);
    for (let i = 0; i < 5; i++) {
      watcher.touch();
      clock.advance(9);
    }
    expect(silences).toEqual([]);
    clock.advance(1);
    expect(silences).toEqual(["IDLE_TIMEOUT 10"]);
  });

  it("says nothing once it is stopped", () => {
    const { clock, silences, watcher } = setup();
    watcher.touch();
    watcher.stop();
    clock.advance(1000);
    expect(silences).toEqual([]);
  });
});

it("a pauseOrAbort ends by the clock or by the signal, whichever is first", async () => {
  const clock = new ManualClock();
  const done = pauseOrAbort(clock, 100, new AbortController().signal);
  clock.advance(100);
  await done;
  const abort = new AbortController();
  const cut = pauseOrAbort(clock, 100, abort.signal);
  abort.abort();
  await expect(cut).rejects.toMatchObject({ name: "AbortError" });
});
