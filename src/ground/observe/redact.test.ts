import { expect, test } from "vitest";
import fc from "../../../test/support/property.ts";
import { createRedactor } from "./index.ts";

const { redact } = createRedactor();

test.each([
  ["sk-ant-api03-abcDEF_123-xyz", "[redacted]"],
  ["key is sk-1234567890abcdef.", "key is [redacted]."],
  ["Authorization: Bearer abc.def-123456", "Authorization: Bearer [redacted]"],
  ["https://h/?key=abcdef&x=1", "https://h/?key=[redacted]&x=1"],
  ["access_token=abc; path=/", "access_token=[redacted]; path=/"],
  [
    "https://api.telegram.org/bot123456789:AAEhBOweik9ai2o9d8-sEo9uXpY0kq_AbCd/getMe",
    "https://api.telegram.org/bot[redacted]/getMe",
  ],
  ["xoxb-12345678-abcdefgh", "[redacted]"],
  ["ghp_0123456789abcdefghij", "[redacted]"],
  ['{"apiKey":"abc","n":1}', '{"apiKey":"[redacted]","n":1}'],
  ["postgres://me:hunter2@db/x", "postgres://me:[redacted]@db/x"],
  ["eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSMeKKF2QT4", "[redacted]"],
  ["-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "[redacted]"],
])("%s is hidden", (text, safe) => {
  expect(redact(text)).toBe(safe);
  expect(redact(safe)).toBe(safe);
});

test.each([
  "the bearer of news",
  "task-force of 12",
  "monkey=banana",
  "16.6k tokens in 0.2 s",
  "http://127.0.0.1:7717/healthz",
  "turn_01hzx session agent:ada:main",
  "2026-11-15T03:37:55.123Z",
])("%s stays", (text) => {
  expect(redact(text)).toBe(text);
});

test("a value too short to be a secret is refused, so that ordinary text survives", () => {
  const redactor = createRedactor();
  expect(redactor.addSecret("ok")).toBe(false);
  expect(redactor.redact("ok then")).toBe("ok then");
});

test("the longer of two secrets goes as a whole", () => {
  const redactor = createRedactor();
  redactor.addSecret("canary");
  redactor.addSecret("canary-long");
  expect(redactor.redact("canary-long canary")).toBe("[redacted] [redacted]");
});

test("whatever surrounds a registered value, it does not come out, and once is enough", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 6 }), fc.string(), fc.string(), (secret, before, after) => {
      const value = secret.trim();
      // The mark itself is made of ordinary letters; a secret that is part of it proves nothing.
      fc.pre(value.length >= 6 && !"[redacted]".includes(value));
      const redactor = createRedactor();
      redactor.addSecret(secret);
      const safe = redactor.redact(before + secret + after);
      expect(safe.includes(value)).toBe(false);
      expect(redactor.redact(safe)).toBe(safe);
    }),
  );
});

test.each(["a", "key=", "://", "a://b:", "-----BEGIN ", "eyJ-", "sk-", '"token', "bearer ", "1", "9:", "Bearer  "])(
  "100 kB of %j cost milliseconds, not minutes",
  (piece) => {
    const started = performance.now();
    redact(piece.repeat(100_000 / piece.length));
    // Quadratic work on this text takes a minute; the bound is far above what linear work takes on a busy machine.
    expect(performance.now() - started).toBeLessThan(3_000);
  },
);
