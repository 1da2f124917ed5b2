/** A client: sends with a key, loses the connection, tries again with the same key until it has its answer. */
import { setTimeout as pause } from "node:timers/promises";
import type { ChatAnswer } from "../../src/core/protocol/index.ts";
import { RpcFailed, sendHook } from "../support/index.ts";
import type { Random } from "./random.ts";
import type { World } from "./world.ts";

export interface Sent {
  id: string;
  text: string;
  /** Tokens its commands would leave. */
  tokens: string[];
  turn: string;
  session: string;
  answer?: ChatAnswer;
}

/** One conversation; `sent` is in the order of acknowledgement, because the next is sent only after it. */
export interface Conversation {
  name: string;
  kind: "chat" | "asker" | "hook" | "plain";
  sent: Sent[];
}

/** Conversations are kept short enough for the model's window, so that every request shows all of it. */
const LONGEST = 60;

export async function runClient(
  world: World,
  kind: Conversation["kind"],
  name: string,
  random: Random,
  going: () => boolean,
  /** Gets the conversations at once, so that the run can be looked at while it goes. */
  watch: (talks: Conversation[]) => void,
): Promise<void> {
  const done: Conversation[] = [];
  watch(done);
  for (let part = 0; going(); part++) {
    const talk: Conversation = { name: `${name}.${part}`, kind, sent: [] };
    done.push(talk);
    while (going() && talk.sent.length < LONGEST) {
      // Every third time a second and a third message follow at once: they steer what already runs.
      const burst = random.chance(0.33) ? 2 + random.below(2) : 1;
      const fresh: Sent[] = [];
      for (let i = 0; i < burst; i++) {
        const message = compose(talk, talk.sent.length, random);
        fresh.push(await send(world, talk, message));
        talk.sent.push(fresh.at(-1)!);
      }
      for (const sent of fresh) sent.answer = await answerOf(world, sent);
    }
  }
}

function compose(talk: Conversation, n: number, random: Random): { id: string; text: string; tokens: string[] } {
  const id = `${talk.name}.${n}`;
  const tokens: string[] = [];
  const exec = (before = "") => {
    const token = `${id}-${tokens.length}`;
    tokens.push(token);
    return `tool:exec ${JSON.stringify({ command: `${before}echo ${token} >> witness` })}`;
  };
  const write = `tool:write ${JSON.stringify({ path: `${talk.name}/${n}.txt`, content: `by ${id}` })}`;
  const read = `tool:read ${JSON.stringify({ path: `${talk.name}/${n}.txt` })}`;
  // An agent that asks gets one command a message, so that each approval is about one token.
  const kinds =
    talk.kind === "asker"
      ? [() => "say:ok", () => `${exec()} then: say:ok`]
      : [
          () => "say:ok",
          () => `${exec()} then: say:ok`,
          () => `${exec("sleep 0.05; ")} then: say:ok`,
          () => `${exec()} ${exec()} tool:list {"path":"."} then: say:ok`,
          () => `${exec()} then: ${exec()} then: say:ok`,
          () => `${write} then: ${read} then: say:ok`,
        ];
  const script = kinds[random.below(kinds.length)]!();
  return { id, text: `#${id} ${script}`, tokens };
}

/** Sends until it is acknowledged. */
async function send(
  world: World,
  talk: Conversation,
  m: { id: string; text: string; tokens: string[] },
): Promise<Sent> {
  const { lares, far } = world;
  const acknowledged = await persist(world, async () => {
    if (talk.kind === "hook" || talk.kind === "plain") {
      const { status, json } = await sendHook(lares, talk.kind, far.secret, {
        id: m.id,
        chat: talk.name,
        text: m.text,
      });
      if (status >= 500) return undefined;
      if (status !== 202) throw new Error(`webhook ${m.id} was refused: ${status} ${JSON.stringify(json)}`);
      const { session } = await lares.rpc("turns.get", { turn: json.turn! });
      return { turn: json.turn!, session };
    }
    return lares.rpc("chat.send", {
      user: talk.name,
      message: m.text,
      wait: false,
      idempotencyKey: m.id,
      ...(talk.kind === "asker" ? { agent: "asker" } : {}),
    });
  });
  return { ...m, turn: acknowledged.turn, session: acknowledged.session };
}

const OPEN = new Set(["queued", "running", "parked"]);

async function answerOf(world: World, sent: Sent): Promise<ChatAnswer> {
  return persist(world, async () => {
    const answer = await world.lares.rpc("turns.wait", { turn: sent.turn });
    return OPEN.has(answer.state) ? undefined : answer;
  });
}

/** Tries until it gets something: a lost connection, a program that is not ready yet, and "not yet" are tried again. */
export async function persist<T>(world: World, attempt: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    await world.up();
    try {
      const got = await attempt();
      if (got !== undefined) return got;
    } catch (error) {
      const passing = error instanceof TypeError || (error instanceof RpcFailed && error.status >= 503);
      if (!passing) throw error;
    }
    // Not a wait for something to have happened: only so that a program that is down is not asked without end.
    await pause(5);
  }
}
