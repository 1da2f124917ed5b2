import { expect, test } from "vitest";
import { isOnThisMachine } from "./connection.ts";

test.each(["xmpp://localhost:5222", "ws://127.0.0.1:5280/ws", "xmpp://[::1]:5222"])("%s is this machine", (service) => {
  expect(isOnThisMachine(service)).toBe(true);
});

test.each([undefined, "xmpp://localhost.example.com", "xmpp://127.example.com:5222", "xmpp://example.com"])(
  "%s is another machine, so its password needs an encrypted connection",
  (service) => {
    expect(isOnThisMachine(service)).toBe(false);
  },
);
