import { createServer } from "node:net";
import { connect } from "node:tls";
import { expect, test } from "vitest";
import { socketWords } from "./socket-words.ts";

test("a server that speaks no TLS is named as that, not in OpenSSL's words", async () => {
  const server = createServer((socket) => socket.write(":irc.example NOTICE * :hello\r\n"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const error = await new Promise<Error>((resolve) => {
    connect({ host: "127.0.0.1", port }).once("error", resolve);
  });
  server.close();
  expect(error.message).toMatch(/SSL|wrong version/);
  expect(socketWords(error)).toBe("it doesn't speak TLS on that port");
});

test.each([
  ["ECONNREFUSED", /nothing is listening/],
  ["ENOTFOUND", /no host of that name/],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", /certificate is not valid/],
  ["CERT_HAS_EXPIRED", /certificate is not valid/],
  ["ERR_SSL_WRONG_VERSION_NUMBER", /doesn't speak TLS/],
])("%s", (code, says) => {
  expect(socketWords({ code })).toMatch(says);
});

test("a code that says nothing has no words", () => {
  expect(socketWords({ code: "toString" })).toBeUndefined();
  expect(socketWords({})).toBeUndefined();
});
