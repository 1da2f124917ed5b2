/**
 * Work that another agent asked for over A2A, as its peer sees it. A task is a turn and a context is a session: there is nothing to
 * store besides, and nothing to lose.
 */
/** In a message's metadata: how many agents asked each other before. */
export const HOPS = "https://lares.dev/a2a/hops";
/** On a card: a message sent again under the same id is the same task, so a caller that lost the answer may repeat it. */
export const SAME_MESSAGE = "https://lares.dev/a2a/same-message-same-task/v1";

export type PeerTaskState = "submitted" | "working" | "input-required" | "completed" | "failed" | "canceled";

export interface PeerTask {
  /** The turn's id. */
  id: string;
  /** Names the conversation, to this peer only. */
  context: string;
  /** As far as it has come. */
  state: PeerTaskState;
  /** When the state was reached; when it was asked, as long as it runs. */
  at: number;
  /** The answer, or what can be said about why there is none. */
  text: string;
  /** The peer's own id of the message that asked for it. */
  message: string;
}

/** Who asks: what a token says about its holder. */
export interface PeerCaller {
  /** Of the token: tasks and conversations are filed under it. */
  id: string;
  /** What the owner called the token. */
  name: string;
}

export interface PeerAsk {
  /** The peer's id of the message: the same one again is the same task, for good. */
  message: string;
  /** What it says, without files. */
  text: string;
  /** Which agent; the first one that is shown when left out. */
  agent?: string;
  /** The conversation it continues; a new one when left out. */
  context?: string;
  /** The open task this belongs to. */
  task?: string;
  /** How many agents asked each other before this one was asked. */
  hops: number;
}

/** An agent that peers may talk to. */
export interface ShownAgent {
  /** As lares.yaml names it. */
  id: string;
  /** What people call it. */
  name: string;
}

/** What the A2A door asks of the rest of Lares. Errors are AppErrors: NOT_FOUND for tasks that aren't this peer's. */
export interface PeerDoor {
  /** False: A2A is switched off, and nothing answers. */
  isOpen(): boolean;
  /** Where this gateway is reached from outside, when that isn't the address of the request. */
  address(): string | undefined;
  /** What the card says. The first agent is the one that is meant when none is named. */
  shown(): { description: string; agents: readonly ShownAgent[] };
  /** Durable when it resolves. The task that carries the message. */
  send(peer: PeerCaller, ask: PeerAsk): Promise<PeerTask>;
  /** The task as it is now. */
  get(peer: PeerCaller, task: string): Promise<PeerTask>;
  /** The task once nothing more happens without a person, or as it is when `signal` aborts. */
  settled(peer: PeerCaller, task: string, signal: AbortSignal): Promise<PeerTask>;
  /** The newest first. */
  list(
    peer: PeerCaller,
    query: { context?: string; after?: string; limit: number },
  ): Promise<{ tasks: PeerTask[]; next?: string }>;
  /** Stops it at the next safe point, and waits for that until `signal` aborts. Nothing when it was over. */
  cancel(peer: PeerCaller, task: string, signal: AbortSignal): Promise<PeerTask | undefined>;
}
