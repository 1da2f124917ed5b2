import { expect, test } from "vitest";
import { adviceFor } from "./advice.ts";

const about = { hasNetwork: true, mayStay: true, mayFetch: true, timeoutS: 120, mostS: 600 };
const ended = (text: string, how: "exited" | "timeout" = "exited") => ({
  how,
  output: { text, cut: false, bytes: text.length, spill: undefined },
});

test("after a timeout: what stays, a longer one up to the most, or the background", () => {
  expect(adviceFor(ended("", "timeout"), about)).toEqual([
    "It was stopped after 120 s. Anything it had already done remains: check before you run it again. Then give it longer with timeout_s (up to 600), or start it with background: true and get a message when it ends, or do it in smaller steps.",
  ]);
  const longest = adviceFor(ended("", "timeout"), { ...about, timeoutS: 600, mayStay: false }).join();
  expect(longest).not.toMatch(/timeout_s|background/);
  expect(longest).toContain("smaller steps");
});

test.each([
  ["no network", "curl: (6) Could not resolve host: example.org", false, /^Commands have no network here: .*web_fetch/],
  ["no network", "connect: Network is unreachable", false, /^Commands have no network here/],
  [
    "no network",
    "curl: (7) Connection refused",
    false,
    /nothing is listening on that port.*Commands have no network here/,
  ],
  [
    "an unknown name",
    "getaddrinfo ENOTFOUND exmaple.org",
    true,
    /^The host name wasn't found, although commands have network here/,
  ],
  ["an offline machine", "connect: No route to host", true, /^This machine can't reach the network/],
  ["a closed port", "Error: connect ECONNREFUSED 127.0.0.1:3000", true, /nothing is listening on that port/],
])("tells %s apart: %s", (_what, text, hasNetwork, expected) => {
  const [said, ...more] = adviceFor(ended(text), { ...about, hasNetwork });
  expect(said).toMatch(expected);
  expect(more).toEqual([]);
});

test("says nothing about other failures", () => {
  expect(adviceFor(ended("Error: no such file"), about)).toEqual([]);
});
