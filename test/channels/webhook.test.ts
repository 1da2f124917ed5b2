/** The webhook channel under the contract every channel passes. Its far side is a real HTTP server that checks signatures. */
import { channelContract, type Person } from "../contracts/channel.ts";
import { type HookMessage, type Lares, sendHook, startFarSide, until } from "../support/index.ts";

// A webhook's people are vouched for by the signed caller, so the stranger's part of the contract is tried with a closed list.
const owner: Person = { id: "boss", name: "Boss" };

channelContract({
  name: "webhook",
  async start() {
    const far = await startFarSide({ dedupes: false });
    let lares: Lares;
    let n = 0;
    const post = (message: HookMessage) => {
      // As platforms do: until it is acknowledged.
      void until("the message to be taken", async () => {
        const got = await sendHook(lares, "main", far.secret, message).catch(() => undefined);
        return got?.status === 202;
      });
      return message.id;
    };
    return {
      account: { secret: far.secret, url: far.url, dedupes: false, approvers: [owner.id] },
      owner,
      has: { redelivers: true, dedupes: false },
      attach: async (now) => {
        lares = now;
      },
      async say(from, text) {
        return post({ id: `m${++n}`, chat: from.id, sender: from.id, text });
      },
      threads: {
        start: async () => `thread-${++n}`,
        say: async (from, thread, text) => post({ id: `m${++n}`, chat: from.id, sender: from.id, text, thread }),
        shown: async (thread) => far.shown.filter((m) => m.thread === thread).map(({ id, text }) => ({ id, text })),
      },
      garble: { none: "what cannot be read is refused with a sentence, to the caller" },
      shown: async (where) =>
        far.shown.filter((m) => m.chat === (where as Person).id).map(({ id, text }) => ({ id, text })),
      refuseSends: (times) => far.behave({ how: "refuse", status: 429, times }),
      close: () => far.close(),
    };
  },
});
