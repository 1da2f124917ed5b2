import { expect, test } from "vitest";
import { ownDoor } from "./own-doors.ts";
import { plainCommand } from "./testing.ts";

const DOORS = { ports: [7717], hosts: ["box.lan", "192.168.1.5"] };
const judge = (text: string) => ownDoor(plainCommand(text), text.split(" "), DOORS);

test.each([
  "curl http://127.0.0.1:7717/rpc/status",
  "curl 127.1:7717",
  "curl http://localhost:7717/chat",
  "curl http://[::1]:7717/",
  "curl http://0.0.0.0:7717/",
  "curl http://box.lan:7717/",
  "curl http://BOX.lan.:7717/",
  "curl http://192.168.1.5:7717/",
  "curl http://anything.localtest.me:7717/",
  "curl http://127.0.0.1:77{17,18}/",
  "curl http://127.0.0.%31:7717/",
  "http :7717/rpc/x",
  "nc localhost 7717",
  "nc 2130706433 7717",
  "socat - TCP:localhost:7717",
  "curl --data x http://127.0.0.1:7717/healthz",
  "curl http://127.0.0.1:7717/healthz http://127.0.0.1:7717/chat",
])("%s names the gateway", (text) => expect(judge(text)).toMatch(/gateway/));

test.each([
  "curl http://127.0.0.1:8080/",
  "curl http://example.com:7717/",
  "echo 7717",
  "curl -s http://127.0.0.1:7717/healthz",
  "curl -sS -o /dev/null http://localhost:7717/readyz",
  "wget -qO- http://localhost:7717/metrics",
])("%s doesn't, or only looks at its health", (text) => expect(judge(text)).toBeUndefined());

test("the address may stand in a variable or behind a redirection", () => {
  const at = { guess: "http://127.0.0.1:7717" };
  const command = plainCommand("curl");
  expect(ownDoor({ ...command, assignments: [{ name: "URL", value: at }] }, ["curl"], DOORS)).toMatch(/gateway/);
  const target = { guess: "/dev/tcp/127.0.0.1/7717" };
  expect(ownDoor({ ...command, redirects: [{ operator: ">", target }] }, ["echo"], DOORS)).toMatch(/gateway/);
});
