/** The whole table: every failure class in every situation. `next` is pure, so nothing runs here. */

import { describe, expect, it } from "vitest";
import fc from "../../../../test/support/property.ts";
import type { FailureClass } from "../../../core/contracts/index.ts";
import type { HealthEntry } from "./health.ts";
import { type Candidate, type Next, next, type Tried } from "./next.ts";

const NOW = 1_000_000;
const candidate = (model: string, credential: string, contextWindow = 100): Candidate => ({
  id: `${model}@${credential}`,
  provider: model.split("/")[0]!,
  model,
  credential,
  contextWindow,
});
const A1 = candidate("a/x", "one");
const A2 = candidate("a/x", "two");
const B1 = candidate("b/y", "one");
const LARGE = candidate("c/z", "one", 1000);

const cooling = (last: FailureClass = "overload", forMs = 30_000): HealthEntry => ({
  failures: 1,
  until: NOW + forMs,
  last,
  probing: false,
});

interface Situation {
  candidates: Candidate[];
  health?: Record<string, HealthEntry>;
  tried?: Record<string, Partial<Tried>>;
  deadline?: number;
}

/** A1 has just failed with `failure`, in the given situation. */
function decide(
  failure: FailureClass,
  { candidates, health = {}, tried = {}, deadline = NOW + 60_000 }: Situation,
): string {
  const all = new Map<string, Tried>([[A1.id, { times: 1, last: failure, retryAfterMs: null }]]);
  for (const [id, how] of Object.entries(tried)) {
    all.set(id, { times: 1, last: failure, retryAfterMs: null, ...how });
  }
  const book = new Map<string, HealthEntry>([[A1.id, cooling(failure)], ...Object.entries(health)]);
  return show(next(candidates, book, { candidate: A1, failure, tried: all, deadline }, NOW, () => 0));
}

function show(step: Next): string {
  if ("use" in step) return `use ${step.use.id}`;
  if ("wait" in step) return `wait ${step.wait} ${step.candidate.id}`;
  return `stop ${step.stop}`;
}

const SITUATIONS = {
  alone: { candidates: [A1] },
  "a second credential": { candidates: [A1, A2] },
  "a fallback model": { candidates: [A1, B1] },
  "a larger fallback": { candidates: [A1, LARGE] },
  "second credential and fallback, second cooling": { candidates: [A1, A2, B1], health: { [A2.id]: cooling() } },
  "all cooling down": { candidates: [A1, A2, B1], health: { [A2.id]: cooling(), [B1.id]: cooling() } },
  "everybody asked once": { candidates: [A1, B1], tried: { [B1.id]: {} } },
  "asked to the limit": { candidates: [A1], tried: { [A1.id]: { times: 4 } } },
  "deadline near": { candidates: [A1], deadline: NOW + 499 },
  "deadline near, with a fallback": { candidates: [A1, B1], deadline: NOW },
} satisfies Record<string, Situation>;
type Name = keyof typeof SITUATIONS;

/** What may pass: another credential, another model, then again after a pause. */
const PASSING: Record<Name, string> = {
  alone: "wait 500 a/x@one",
  "a second credential": "use a/x@two",
  "a fallback model": "use b/y@one",
  "a larger fallback": "use c/z@one",
  "second credential and fallback, second cooling": "use b/y@one",
  "all cooling down": "use b/y@one",
  "everybody asked once": "wait 500 a/x@one",
  "asked to the limit": "stop exhausted",
  "deadline near": "stop deadline",
  "deadline near, with a fallback": "use b/y@one",
};
/** What does not pass by waiting: others are asked, nobody twice. */
const LASTING: Record<Name, string> = {
  ...PASSING,
  alone: "stop exhausted",
  "everybody asked once": "stop exhausted",
  "deadline near": "stop exhausted",
};

const TABLE: Record<FailureClass, Record<Name, string>> = {
  "rate-limit": PASSING,
  overload: PASSING,
  "server-error": PASSING,
  timeout: PASSING,
  network: PASSING,
  unknown: PASSING,
  auth: LASTING,
  billing: LASTING,
  "not-found": LASTING,
  "too-large": LASTING,
  format: {
    ...LASTING,
    alone: "stop malformed",
    "a second credential": "stop malformed",
    "everybody asked once": "stop malformed",
    "asked to the limit": "stop malformed",
    "deadline near": "stop malformed",
  },
  "context-overflow": {
    alone: "stop too-long",
    "a second credential": "stop too-long",
    "a fallback model": "stop too-long",
    "a larger fallback": "use c/z@one",
    "second credential and fallback, second cooling": "stop too-long",
    "all cooling down": "stop too-long",
    "everybody asked once": "stop too-long",
    "asked to the limit": "stop too-long",
    "deadline near": "stop too-long",
    "deadline near, with a fallback": "stop too-long",
  },
};

describe.each(Object.keys(TABLE) as FailureClass[])("after %s", (failure) => {
  it.each(Object.entries(TABLE[failure]))("%s: %s", (situation, wanted) => {
    expect(decide(failure, SITUATIONS[situation as Name])).toBe(wanted);
  });
});

describe("the start of a call", () => {
  const start = (candidates: Candidate[], health: Record<string, HealthEntry>) =>
    show(next(candidates, new Map(Object.entries(health)), null, NOW, () => 0));

  it("takes the first that is well (CHAIN-1)", () => {
    expect(start([A1, A2, B1], {})).toBe("use a/x@one");
    expect(start([A1, A2, B1], { [A1.id]: cooling() })).toBe("use a/x@two");
  });

  it("returns to the first when its cooldown has ended, unless it is being probed", () => {
    expect(start([A1, B1], { [A1.id]: cooling("overload", 0) })).toBe("use a/x@one");
    expect(start([A1, B1], { [A1.id]: { ...cooling("overload", 0), probing: true } })).toBe("use b/y@one");
  });

  it("asks the one that is well soonest when all are cooling down", () => {
    expect(start([A1, B1], { [A1.id]: cooling("overload", 9000), [B1.id]: cooling("overload", 10) })).toBe(
      "use b/y@one",
    );
    expect(start([A1, B1], { [A1.id]: cooling(), [B1.id]: cooling() })).toBe("use a/x@one");
  });

  it("stops when there is nobody", () => {
    expect(start([], {})).toBe("stop nobody");
  });
});

describe("pauses", () => {
  it("double with each try and honour Retry-After", () => {
    expect(decide("overload", { candidates: [A1], tried: { [A1.id]: { times: 3 } } })).toBe("wait 2000 a/x@one");
    expect(decide("rate-limit", { candidates: [A1], tried: { [A1.id]: { retryAfterMs: 7000 } } })).toBe(
      "wait 7000 a/x@one",
    );
  });

  it("what is unknown gets one more chance only", () => {
    expect(decide("unknown", { candidates: [A1], tried: { [A1.id]: { times: 2 } } })).toBe("stop exhausted");
  });

  it("an overflow of the fallback does not end the tries of the first", () => {
    const tried = { [B1.id]: { last: "context-overflow" as const } };
    expect(decide("overload", { candidates: [A1, B1], tried })).toBe("wait 500 a/x@one");
  });
});

it("every run of failures ends, asks every provider that can help, and nobody more than four times (CHAIN-3, CHAIN-5)", () => {
  const classes = Object.keys(TABLE) as FailureClass[];
  const pool = [A1, A2, B1, candidate("b/y", "two"), LARGE];
  fc.assert(
    fc.property(
      fc.subarray(pool, { minLength: 1 }),
      fc.array(fc.constantFrom(...classes), { minLength: 40, maxLength: 40 }),
      (candidates, failures) => {
        const tried = new Map<string, Tried>();
        let step = next(candidates, new Map(), null, NOW);
        let i = 0;
        while (!("stop" in step)) {
          const at: Candidate = "wait" in step ? step.candidate : step.use;
          const failure = failures[i++ % failures.length]!;
          tried.set(at.id, { times: (tried.get(at.id)?.times ?? 0) + 1, last: failure, retryAfterMs: null });
          expect(i).toBeLessThanOrEqual(4 * candidates.length);
          step = next(candidates, new Map(), { candidate: at, failure, tried, deadline: NOW + 1e9 }, NOW);
        }
        for (const { times } of tried.values()) expect(times).toBeLessThanOrEqual(4);
        const seen = [...tried.values()].map((t) => t.last);
        if (!seen.includes("context-overflow") && !seen.includes("format")) expect(tried.size).toBe(candidates.length);
      },
    ),
  );
});
