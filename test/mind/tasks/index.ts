/** The tasks, and the stage they are played on. */
import { ircPerson, NGIRCD, startIrc } from "../../servers/irc.ts";
import { needs, until } from "../../support/index.ts";
import { startTelegramRig } from "../telegram.ts";
import { RECOVERING, SHUT_IN } from "./recovering.ts";
import type { Stage, Task } from "./task.ts";
import { ON_IRC, TELLING } from "./telling.ts";

/** Those that can be played on this machine; what cannot is said. */
export function tasksHere(): Task[] {
  const irc = needs("ngircd", "the task about the format for IRC", NGIRCD !== undefined) ? ON_IRC : [];
  const shutIn = needs("bwrap", "the task about a command without network") ? SHUT_IN : [];
  return [...TELLING, ...irc, ...RECOVERING, ...shutIn];
}

export async function startStage(): Promise<Stage> {
  const server = NGIRCD === undefined ? undefined : await startIrc();
  const bot = server && { host: "127.0.0.1", port: server.port, tls: false, nick: "lares", paceMs: 0, dm: "open" };
  const rig = await startTelegramRig({
    ticks: true,
    config: { policy: { mode: "record" }, ...(bot ? { channels: { irc: { main: bot } } } : {}) },
  });
  const irc = server && (await ircPerson(server.port, "ann"));
  if (irc) {
    await until("IRC to be connected", async () => {
      const { channels } = await rig.rpc("channels.list", {});
      return channels.find(({ name }) => name === "irc/main")?.connected;
    });
  }
  return {
    rig,
    ...(irc ? { irc } : {}),
    async stop() {
      irc?.close();
      await rig.stopAll();
      await server?.stop();
    },
  };
}
