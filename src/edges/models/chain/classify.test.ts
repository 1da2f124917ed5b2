import { describe, expect, it } from "vitest";
import { classify, type Evidence, readEvidence, retryAfterMs } from "./classify.ts";
import { cooldownMs, HealthBook } from "./health.ts";
import { cleanWords, failureSentence, makeNotice } from "./words.ts";

const evidence = (over: Partial<Evidence>): Evidence => ({
  status: null,
  body: "",
  message: "",
  codes: [],
  retryAfterMs: null,
  ...over,
});

describe("classify", () => {
  it.each([
    [{ status: 401 }, "auth"],
    [{ status: 403, body: "forbidden" }, "auth"],
    [{ status: 400, body: "API key not valid. Please pass a valid API key." }, "auth"],
    [{ status: 402 }, "billing"],
    [{ status: 400, body: "Your credit balance is too low" }, "billing"],
    [{ status: 429, body: '{"error":{"code":"insufficient_quota"}}' }, "billing"],
    [{ status: 429 }, "rate-limit"],
    [{ status: 408 }, "timeout"],
    [{ status: 504 }, "timeout"],
    [{ status: 500 }, "server-error"],
    [{ status: 529 }, "overload"],
    [{ status: 404 }, "not-found"],
    [{ status: 400, body: "model_not_found" }, "not-found"],
    [{ status: 413 }, "context-overflow"],
    [{ status: 400, body: "prompt is too long: 3 tokens > 2 maximum" }, "context-overflow"],
    [
      {
        status: 400,
        body: '{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}',
      },
      "context-overflow",
    ],
    [{ status: 400, body: "messages: roles must alternate" }, "format"],
    [{ status: 422 }, "format"],
    [{ codes: ["ECONNREFUSED"] }, "network"],
    [{ codes: ["UND_ERR_SOCKET"], message: "terminated" }, "network"],
    [{ codes: ["ENOTFOUND"] }, "network"],
    [{ codes: ["ETIMEDOUT"] }, "timeout"],
    [{ codes: ["IDLE_TIMEOUT"] }, "timeout"],
    [{ message: "the answer ended early" }, "network"],
    [{ body: '{"type":"overloaded_error","message":"Overloaded"}' }, "overload"],
    [{ body: '{"type":"invalid_request_error","message":"no"}' }, "format"],
    [{ message: "something odd" }, "unknown"],
    [{}, "unknown"],
  ] satisfies [Partial<Evidence>, string][])("%j is %s", (given, wanted) => {
    expect(classify(evidence(given))).toBe(wanted);
  });
});

describe("evidence", () => {
  it("follows causes to the socket's code", () => {
    const socket = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    const thrown = new Error("Cannot connect", { cause: new TypeError("fetch failed", { cause: socket }) });
    expect(readEvidence(thrown, 0).codes).toEqual(["ECONNREFUSED"]);
  });

  it("does not take the 200 of a broken stream for its failure", () => {
    expect(readEvidence({ statusCode: 200, message: "x" }, 0).status).toBeNull();
    expect(readEvidence({ statusCode: 429, responseHeaders: { "retry-after": "3" } }, 0)).toMatchObject({
      status: 429,
      retryAfterMs: 3000,
    });
  });

  it("reads Retry-After as seconds, date and milliseconds, and believes at most an hour", () => {
    const now = Date.parse("2026-01-01T00:00:00Z");
    expect(retryAfterMs({ "retry-after": "1.5" }, now)).toBe(1500);
    expect(retryAfterMs({ "retry-after": "Thu, 01 Jan 2026 00:00:10 GMT" }, now)).toBe(10_000);
    expect(retryAfterMs({ "retry-after-ms": "250" }, now)).toBe(250);
    expect(retryAfterMs({ "retry-after": "999999" }, now)).toBe(3_600_000);
    expect(retryAfterMs({ "retry-after": "soon" }, now)).toBeNull();
    expect(retryAfterMs({}, now)).toBeNull();
  });
});

describe("health", () => {
  it("cools down 30 s, 1 min, 5 min; 10 min for billing; as long as Retry-After says", () => {
    expect([1, 2, 3, 9].map((n) => cooldownMs("overload", n, null))).toEqual([30_000, 60_000, 300_000, 300_000]);
    expect(cooldownMs("billing", 1, null)).toBe(600_000);
    expect(cooldownMs("auth", 1, null)).toBe(300_000);
    expect(cooldownMs("overload", 5, 1234)).toBe(1234);
  });

  it("forgets everything on success, and blames nobody for the request's own fault (CHAIN-9, CHAIN-10)", () => {
    const book = new HealthBook();
    book.failed("a", "context-overflow", null, 0);
    book.failed("a", "format", null, 0);
    expect(book.entries.size).toBe(0);
    book.failed("a", "overload", null, 0);
    book.failed("a", "overload", null, 0);
    expect(book.entries.get("a")).toMatchObject({ failures: 2, until: 60_000, last: "overload" });
    book.succeeded("a");
    expect(book.entries.size).toBe(0);
  });
});

describe("words", () => {
  it("hide keys and all of a URL but its host", () => {
    expect(cleanWords("bad key abcdefgh1234 at https://api.x.com/v1?key=q.", ["abcdefgh1234"])).toBe(
      "bad key … at api.x.com",
    );
    expect(cleanWords("Incorrect API key: sk-pr****xyz", [])).toBe("Incorrect API key: …");
    expect(cleanWords("none of this\nis secret", ["none"])).toBe("none of this is secret");
  });

  it("say who failed how, and who answered", () => {
    expect(makeNotice("a/x", "billing", "b/y")).toBe("a/x has no credit left; b/y answered.");
    expect(
      failureSentence([
        { model: "a/x", failure: "overload", said: "" },
        { model: "a/x", failure: "timeout", said: "no word" },
        { model: "b/y", failure: "auth", said: "HTTP 401: no" },
      ]),
    ).toBe("a/x did not answer in time (no word); b/y rejected its key (HTTP 401: no).");
  });
});

it("what a provider echoes of the key is hidden in every plain encoding", () => {
  const key = "local-key-0123456789";
  const bytes = Buffer.from(key);
  for (const echoed of [key, bytes.toString("base64"), bytes.toString("hex"), [...key].reverse().join("")]) {
    const words = cleanWords(`401 bad key ${echoed} given`, [key]);
    expect(words).toContain("…");
    expect(words).not.toContain(echoed.slice(0, 10));
  }
});
