/** Where Lares' own gateway can be reached from this machine; the gate keeps commands away from it. */
import { hostname, networkInterfaces } from "node:os";
import type { GatewayDoors } from "./rules.ts";

export interface OwnDoors {
  now(): GatewayDoors;
  /** The gateway listens. Called once; until then the port of the settings counts. */
  opened(port: number): void;
}

export function ownDoors({ port, bind }: { port: number; bind: string }): OwnDoors {
  const name = hostname().toLowerCase();
  const addresses = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
  const hosts = [...new Set([name, name.split(".")[0]!, `${name}.local`, bind, ...addresses])].filter(Boolean);
  let doors: GatewayDoors = { ports: port === 0 ? [] : [port], hosts };
  return {
    now: () => doors,
    opened: (at) => {
      doors = { ports: [at], hosts };
    },
  };
}
