/** A real ngIRCd, and people on it. */
import { chmodSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { parseLine } from "../../src/edges/channels/irc/line.ts";
import { scratch } from "../support/scratch.ts";
import { until } from "../support/until.ts";
import { freePort, programAt, serve } from "./spawned.ts";

export const NGIRCD = programAt("/usr/sbin/ngircd", "/usr/bin/ngircd");

export async function startIrc() {
  const folder = scratch("ngircd");
  const port = await freePort();
  // As root it becomes nobody, who must be able to read it.
  chmodSync(folder, 0o755);
  const file = join(folder, "ngircd.conf");
  writeFileSync(
    file,
    `[Global]
Name = irc.people.test
Info = test
Listen = 127.0.0.1
Ports = ${port}
[Limits]
MaxConnectionsIP = 0
MaxNickLength = 20
MaxPenaltyTime = 0
[Options]
DNS = no
Ident = no
PAM = no
`,
  );
  const server = await serve(NGIRCD!, ["-n", "-f", file], { port, folder });
  return { port, stop: () => server.stop() };
}

/** Somebody with an IRC client who reads everything. */
export async function ircPerson(port: number, nick: string, channel?: string) {
  const socket = connect(port, "127.0.0.1");
  const heard: { from: string; target: string; text: string }[] = [];
  const numerics: string[] = [];
  let text = "";
  socket.on("error", () => {});
  socket.on("data", (chunk: Buffer) => {
    const lines = (text + chunk.toString("utf8")).split("\r\n");
    text = lines.pop() ?? "";
    for (const raw of lines) {
      const line = parseLine(raw);
      if (!line) continue;
      numerics.push(line.command);
      if (line.command === "PING") socket.write(`PONG :${line.params[0]}\r\n`);
      if (line.command !== "PRIVMSG") continue;
      const [target = "", said = ""] = line.params;
      heard.push({ from: line.from.split("!")[0]!, target, text: said });
    }
  });
  socket.write(`NICK ${nick}\r\nUSER ${nick} 0 * :${nick}\r\n`);
  await until(`${nick} to be on IRC`, () => numerics.includes("001"));
  if (channel) {
    socket.write(`JOIN ${channel}\r\n`);
    await until(`${nick} to be in ${channel}`, () => numerics.includes("366"));
  }
  return {
    heard,
    say: (target: string, said: string) => void socket.write(`PRIVMSG ${target} :${said}\r\n`),
    raw: (line: string) => void socket.write(`${line}\r\n`),
    close: () => void socket.destroy(),
  };
}
