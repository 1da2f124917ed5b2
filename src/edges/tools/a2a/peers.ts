/**
 * The agents that ours may ask: how to reach each, and whether its card is the one the owner accepted.
 *
 * HIRE-4: an agent is asked only while its card is the accepted one; a card that is new or changed waits until a person has seen it.
 */
import { type Records, SAME_MESSAGE } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { type Clock, nearest, truthy } from "../../../core/kit/index.ts";
import { fetchCard, ownFetch, type PeerCard, type PeerStatus } from "./card.ts";
import type { PeerConfig, PeersConfig } from "./config.ts";
import { type AcceptedCard, forgetAccepted, readAccepted, readChanged, writeAccepted, writeChanged } from "./store.ts";
import type { FarSide } from "./wire.ts";
import { enableHint, hasChanged, isNew, isOff, newTokenHint, turnedAway, unknownPeer } from "./words.ts";

export interface PeerBookParts {
  records: Records;
  clock: Clock;
  /** With secrets in place of their names. */
  config: () => PeersConfig;
}

/** How a peer's card stands to the accepted one. */
export interface CardLook extends PeerCard {
  state: "accepted" | "new" | "changed";
  before?: string;
}

export class PeerBook {
  private readonly parts: PeerBookParts;

  constructor(parts: PeerBookParts) {
    this.parts = parts;
  }

  /** Those that may be asked. */
  names(): string[] {
    return Object.entries(this.parts.config())
      .filter(([, { enabled }]) => enabled)
      .map(([name]) => name);
  }

  /** Throws TOOL_INPUT when there is none. */
  get(name: string): PeerConfig {
    const config = this.parts.config()[name];
    if (config?.enabled) return config;
    if (config) throw new AppError("TOOL_INPUT", { message: isOff(name), hint: enableHint(name), origin: "own" });
    const near = nearest(name, this.names());
    throw new AppError("TOOL_INPUT", {
      message: unknownPeer(name),
      hint: near ? `Did you mean "${near}"?` : `There are: ${this.names().join(", ") || "none"}.`,
      origin: "own",
    });
  }

  /** Fetches the card and holds it against the accepted one. Throws when it can't be had. */
  async look(name: string, signal: AbortSignal): Promise<CardLook> {
    const { url } = this.get(name);
    const card = await fetchCard(name, url, this.fetch(name), signal, SAME_MESSAGE);
    const accepted = await readAccepted(this.parts.records, name);
    if (!accepted) return { ...card, state: "new" };
    const isChanged = accepted.digest !== card.digest;
    if (isChanged !== (await this.hasChanged(name)))
      await this.parts.records.write((tx) => writeChanged(tx, name, isChanged));
    if (!isChanged) return { ...card, state: "accepted" };
    return { ...card, state: "changed", before: accepted.shown };
  }

  /** Whether its card was another one when it was last looked at. */
  hasChanged(name: string): Promise<boolean> {
    return readChanged(this.parts.records, name);
  }

  /** Whether the peer takes requests with this token. Throws PeerStatus when it doesn't. */
  async knock({ card }: PeerCard, at: Pick<PeerConfig, "url" | "token">, signal: AbortSignal): Promise<void> {
    const { openFarSide } = await import("./wire.ts");
    await (await openFarSide(card, ownFetch(at.url, at.token))).knock(signal);
  }

  turnedAway(name: string, cause: PeerStatus): AppError {
    const message = turnedAway(name, cause.status, this.get(name).token !== undefined);
    const hint = cause.isAboutToken ? newTokenHint(name) : "";
    return new AppError("TOOL_INPUT", { message, ...truthy({ hint }), origin: "own", cause });
  }

  /** For a new task: only over the accepted card. */
  async ready(name: string, signal: AbortSignal): Promise<{ far: FarSide; repeats: boolean }> {
    const { state, card, repeats } = await this.look(name, signal);
    if (state !== "accepted") {
      throw new AppError("TOOL_INPUT", {
        message: state === "new" ? isNew(name) : hasChanged(name),
        hint: "Go on without it, and tell the person. The owner looks at it with: lares a2a test NAME",
        origin: "own",
      });
    }
    return { far: await this.open(name, card), repeats };
  }

  /** For tasks that are under way: they go on although the card has changed, at the same address. */
  async reach(name: string, signal: AbortSignal): Promise<{ far: FarSide; repeats: boolean }> {
    const { card, repeats } = await this.look(name, signal);
    return { far: await this.open(name, card), repeats };
  }

  /** A person saw the card with this digest and takes it. False: it is another one by now. */
  async accept(name: string, digest: string, signal: AbortSignal): Promise<boolean> {
    const now = await this.look(name, signal);
    if (now.digest !== digest) return false;
    await this.keep(name, now);
    return true;
  }

  async keep(name: string, card: AcceptedCard): Promise<void> {
    await this.parts.records.write((tx) => writeAccepted(tx, name, card, this.parts.clock.now()));
  }

  async isAccepted(name: string): Promise<boolean> {
    return (await readAccepted(this.parts.records, name)) !== undefined;
  }

  async forget(name: string): Promise<void> {
    await this.parts.records.write((tx) => forgetAccepted(tx, name));
  }

  private async open(name: string, card: PeerCard["card"]): Promise<FarSide> {
    const { openFarSide } = await import("./wire.ts");
    return openFarSide(card, this.fetch(name));
  }

  private fetch(name: string) {
    const { url, token } = this.get(name);
    return ownFetch(url, token);
  }
}
