/** What an owner sees and changes of the agents that theirs may ask, in the shapes of the protocol's `a2a.*`. */
import { SAME_MESSAGE } from "../../../core/contracts/index.ts";
import { AppError, type Json, secretReference } from "../../../core/domain/index.ts";
import { defined } from "../../../core/kit/index.ts";
import { fetchCard, ownFetch } from "./card.ts";
import type { PeersConfig } from "./config.ts";
import type { Hires } from "./hires.ts";
import type { PeerBook } from "./peers.ts";

export interface PeerManagerPort {
  known(): PeersConfig;
  putSecret(name: string, value: string): Promise<void>;
  /** Undefined removes it. */
  save(peer: string, definition: Json | undefined): Promise<unknown>;
}

export interface PeerTest {
  ok: boolean;
  why?: string;
  state?: "accepted" | "new" | "changed";
  digest?: string;
  card?: string;
  before?: string;
}

/** As long as a person waits for a card. */
const PATIENCE_MS = 20_000;

export class PeerManager {
  private readonly parts: PeerManagerPort & { peers: PeerBook; hires: Hires };

  constructor(parts: PeerManagerPort & { peers: PeerBook; hires: Hires }) {
    this.parts = parts;
  }

  async list() {
    const all = Object.entries(this.parts.known()).map(async ([name, { url, enabled }]) => ({
      name,
      url,
      enabled,
      accepted: await this.parts.peers.isAccepted(name),
      open: await this.parts.hires.open(name),
    }));
    return Promise.all(all);
  }

  /** The card is fetched first and shown to who adds it: that is the acceptance. Nothing is saved when there is none. */
  async add(given: { name: string; url: string; token?: string | undefined; replace?: boolean | undefined }) {
    const { name, url, token } = given;
    if (name in this.parts.known() && !given.replace)
      throw new AppError("CONFLICT", {
        message: `There is already an agent called "${name}".`,
        hint: "Choose another name, or use --replace.",
      });
    const card = await fetchCard(name, url, ownFetch(url, token), AbortSignal.timeout(PATIENCE_MS), SAME_MESSAGE);
    const secret = `A2A_${name}_TOKEN`.toUpperCase().replace(/[^A-Z0-9]/g, "_");
    // Keys first: a definition that refers to a key which isn't there would be refused.
    if (token !== undefined) await this.parts.putSecret(secret, token);
    await this.parts.save(name, { url, ...(token === undefined ? {} : { token: secretReference(secret) }) });
    await this.parts.peers.keep(name, card);
    return { name, card: card.shown };
  }

  async test(name: string): Promise<PeerTest> {
    try {
      const { state, digest, shown, before } = await this.parts.peers.look(name, AbortSignal.timeout(PATIENCE_MS));
      return { ok: true, state, digest, card: shown, ...defined({ before }) };
    } catch (error) {
      if (error instanceof AppError && error.code === "TOOL_INPUT")
        throw new AppError("NOT_FOUND", { message: error.message, hint: "See what there is: lares a2a list" });
      return { ok: false, why: error instanceof Error ? error.message : String(error) };
    }
  }

  accept(name: string, digest: string): Promise<boolean> {
    return this.parts.peers.accept(name, digest, AbortSignal.timeout(PATIENCE_MS));
  }

  async remove(name: string): Promise<boolean> {
    if (!(name in this.parts.known())) return false;
    await this.parts.save(name, undefined);
    await this.parts.peers.forget(name);
    return true;
  }
}
