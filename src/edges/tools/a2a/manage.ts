/** What an owner sees and changes of the agents that theirs may ask, in the shapes of the protocol's `a2a.*`. */
import { SAME_MESSAGE } from "../../../core/contracts/index.ts";
import { AppError, type Json, secretReference } from "../../../core/domain/index.ts";
import { defined, ownSecretName, truthy } from "../../../core/kit/index.ts";
import { fetchCard, ownFetch, type PeerCard, PeerStatus } from "./card.ts";
import { PEER_NAME, PEER_NAME_RULE, type PeersConfig } from "./config.ts";
import type { Hires } from "./hires.ts";
import type { PeerBook } from "./peers.ts";
import { turnedAway } from "./words.ts";

export interface PeerManagerPort {
  known(): PeersConfig;
  vault: { set(name: string, value: string): Promise<void>; remove(name: string): Promise<unknown> };
  /** The policies that may name agents which are asked without approval (`allow.peer_ask`): the general one, and those of single agents. */
  policies(): PolicySettings;
  /** Undefined removes what is there. */
  save(edits: [path: string[], value: Json | undefined][]): Promise<unknown>;
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
      ...truthy({ changed: await this.parts.peers.hasChanged(name) }),
      open: await this.parts.hires.open(name),
    }));
    return Promise.all(all);
  }

  /** The card is fetched first and shown to who adds it: that is the acceptance. Nothing is saved when there is none. */
  async add(given: { name: string; url: string; token?: string | undefined; replace?: boolean | undefined }) {
    const { name, url, token } = given;
    checkNew(name, url);
    if (name in this.parts.known() && !given.replace)
      throw new AppError("CONFLICT", {
        message: `There is already an agent called "${name}".`,
        hint: "Choose another name, or use --replace.",
      });
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const card = await fetchCard(name, url, ownFetch(url, token), signal, SAME_MESSAGE);
    await this.checkToken(given, card, signal);
    const secret = ownSecretName("A2A", name, "TOKEN");
    // Keys first: a definition that refers to a key which isn't there would be refused.
    if (token !== undefined) await this.parts.vault.set(secret, token);
    const definition = { url, ...(token === undefined ? {} : { token: secretReference(secret) }) };
    await this.parts.save([[["a2a", "peers", name], definition]]);
    await this.parts.peers.keep(name, card);
    return { name, card: card.shown };
  }

  async test(name: string): Promise<PeerTest> {
    try {
      const signal = AbortSignal.timeout(PATIENCE_MS);
      const look = await this.parts.peers.look(name, signal);
      const { state, digest, shown, before } = look;
      const seen = { state, digest, card: shown, ...defined({ before }) };
      const why = state === "accepted" ? await this.whyRefused(name, look, signal) : undefined;
      return why === undefined ? { ok: true, ...seen } : { ok: false, why, ...seen };
    } catch (error) {
      if (error instanceof AppError && error.code === "TOOL_INPUT") throw this.cannotAsk(name, error);
      return { ok: false, why: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Cards are public, so a card says nothing about the token. */
  private async whyRefused(name: string, card: PeerCard, signal: AbortSignal): Promise<string | undefined> {
    const at = this.parts.peers.get(name);
    try {
      await this.parts.peers.knock(card, at, signal);
      return undefined;
    } catch (error) {
      if (error instanceof PeerStatus) return turnedAway(name, error.status, at.token !== undefined);
      throw error;
    }
  }

  /** A token that is refused isn't stored. Other trouble may pass, and is found by `test`. */
  private async checkToken(
    given: { name: string; url: string; token?: string | undefined },
    card: PeerCard,
    signal: AbortSignal,
  ) {
    if (given.token === undefined) return;
    try {
      await this.parts.peers.knock(card, given, signal);
    } catch (error) {
      if (!(error instanceof PeerStatus && error.isAboutToken)) return;
      throw new AppError("BAD_REQUEST", {
        message: `${turnedAway(given.name, error.status, true)} Nothing was saved.`,
        hint: "Check the token, or ask the agent's owner for a new one.",
      });
    }
  }

  private cannotAsk(name: string, { message, hint = "" }: AppError): AppError {
    if (name in this.parts.known()) return new AppError("CONFLICT", { message, hint });
    return new AppError("NOT_FOUND", { message, hint: "See what there is: lares a2a list" });
  }

  accept(name: string, digest: string): Promise<boolean> {
    return this.parts.peers.accept(name, digest, AbortSignal.timeout(PATIENCE_MS));
  }

  async remove(name: string): Promise<{ removed: boolean; rule?: boolean }> {
    if (!(name in this.parts.known())) return { removed: false };
    await this.parts.hires.leave(name);
    // Otherwise the next agent that gets this name could be asked without approval.
    const rules = rulesWithout(name, this.parts.policies());
    await this.parts.save([[["a2a", "peers", name], undefined], ...rules]);
    await this.parts.peers.forget(name);
    await this.parts.vault.remove(ownSecretName("A2A", name, "TOKEN"));
    return { removed: true, ...truthy({ rule: rules.length > 0 }) };
  }
}

type PeerRules = { readonly allow?: { readonly peer_ask?: readonly string[] | undefined } | undefined };

interface PolicySettings {
  policy: PeerRules;
  agents: Readonly<Record<string, { readonly policy?: PeerRules | undefined }>>;
}

/** The changes that take a name out of every rule that has it. */
function rulesWithout(name: string, { policy, agents }: PolicySettings): [string[], Json | undefined][] {
  const all = [
    { path: ["policy"], of: policy },
    ...Object.entries(agents).map(([agent, { policy: of = {} }]) => ({ path: ["agents", agent, "policy"], of })),
  ];
  return all.flatMap(({ path, of }) => {
    const allowed = of.allow?.peer_ask ?? [];
    const others = allowed.filter((one) => one !== name);
    if (others.length === allowed.length) return [];
    return [[[...path, "allow", "peer_ask"], others.length > 0 ? others : undefined]];
  });
}

/** Before anything is fetched or stored. */
function checkNew(name: string, url: string): void {
  if (!PEER_NAME.test(name))
    throw new AppError("BAD_REQUEST", {
      message: `"${name}" can't be an agent's name.`,
      hint: `A name is ${PEER_NAME_RULE}.`,
    });
  const { username, password } = new URL(url);
  // It would be stored and listed in plain sight.
  if (username !== "" || password !== "")
    throw new AppError("BAD_REQUEST", {
      message: "The address has a password in it.",
      hint: "Leave it out, and give a token with --token-stdin.",
    });
}
