/**
 * Connections that have not shown a credential. Opening one costs a stranger nothing and holds a place here, so they are few, they
 * must say something soon, and the newcomer always gets in: when there are too many, the one that has been quiet the longest goes.
 * Refusing the newcomer instead would let the first client shut everybody else out, the owner on the same machine included.
 *
 * GATEWAY-1: a connection is closed when its first request is not there in time, whether it is silent or sends its headers byte by byte.
 * GATEWAY-2: one address holds only a share, unless it is this machine or a proxy named in the config: those stand for many people.
 * GATEWAY-3: a connection on which a credential was accepted, or that became a WebSocket, is not counted and never closed here.
 */

import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import { isLoopbackHost } from "../../core/kit/index.ts";
import { canonicalAddress } from "./auth/address.ts";

/** The first request must be complete by then. Headers are a few hundred bytes; a slow phone needs a second or two. */
const FIRST_REQUEST_MS = 10_000;
const LOOK_EVERY_MS = 1000;
/** A browser opens six at a time; a monitoring service a handful. */
const MOST_UNPROVEN = 1024;
const MOST_OF_ADDRESS = 256;

export interface ConnectionLimits {
  firstRequestMs?: number;
  most?: number;
  mostOfAddress?: number;
}

interface Unproven {
  address: string;
  openedAt: number;
  hasAsked: boolean;
}

export class Connections {
  /** In the order of their last sign of life: the first is the one to go. */
  private readonly unproven = new Map<Socket, Unproven>();
  private readonly perAddress = new Map<string, Set<Socket>>();
  private readonly limits: Required<ConnectionLimits>;
  private readonly shared: ReadonlySet<string>;
  private readonly timer: NodeJS.Timeout;
  /** Closed to make room since the start, for the metrics. */
  evicted = 0;

  constructor(trustedProxies: readonly string[], limits: ConnectionLimits = {}) {
    this.shared = new Set(trustedProxies.map(canonicalAddress));
    this.limits = {
      firstRequestMs: limits.firstRequestMs ?? FIRST_REQUEST_MS,
      most: limits.most ?? MOST_UNPROVEN,
      mostOfAddress: limits.mostOfAddress ?? MOST_OF_ADDRESS,
    };
    this.timer = setInterval(() => this.closeLate(), LOOK_EVERY_MS);
    this.timer.unref();
  }

  watch(server: Server): void {
    server.on("connection", (socket: Socket) => this.opened(socket));
    server.on("request", ({ socket }: IncomingMessage) => this.asked(socket));
    server.on("upgrade", ({ socket }: IncomingMessage) => this.proven(socket));
  }

  /** A credential was accepted on it (GATEWAY-3). */
  proven(socket: Socket): void {
    const one = this.unproven.get(socket);
    if (!one) return;
    this.unproven.delete(socket);
    const same = this.perAddress.get(one.address);
    same?.delete(socket);
    if (same?.size === 0) this.perAddress.delete(one.address);
  }

  close(): void {
    clearInterval(this.timer);
  }

  private opened(socket: Socket): void {
    const address = canonicalAddress(socket.remoteAddress);
    this.unproven.set(socket, { address, openedAt: performance.now(), hasAsked: false });
    const same = this.perAddress.get(address) ?? new Set();
    this.perAddress.set(address, same.add(socket));
    socket.once("close", () => this.proven(socket));
    const isOne = !isLoopbackHost(address) && !this.shared.has(address);
    if (isOne && same.size > this.limits.mostOfAddress) this.evict(same.values().next().value);
    if (this.unproven.size > this.limits.most) this.evict(this.unproven.keys().next().value);
  }

  private asked(socket: Socket): void {
    const one = this.unproven.get(socket);
    if (!one) return;
    one.hasAsked = true;
    // To the end of both orders.
    this.unproven.delete(socket);
    this.unproven.set(socket, one);
    const same = this.perAddress.get(one.address);
    if (same?.delete(socket)) same.add(socket);
  }

  private evict(socket: Socket | undefined): void {
    if (!socket) return;
    this.evicted++;
    this.proven(socket);
    socket.destroy();
  }

  private closeLate(): void {
    const before = performance.now() - this.limits.firstRequestMs;
    for (const [socket, one] of this.unproven) {
      if (!one.hasAsked && one.openedAt < before) socket.destroy();
    }
  }
}
