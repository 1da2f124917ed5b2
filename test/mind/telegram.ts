/** People on Telegram around the app: the owner, somebody the owner knows, a stranger, and three groups. */
import type { SeenRequest } from "../fakes/model-server/index.ts";
import { startTelegram } from "../fakes/telegram/index.ts";
import { until } from "../support/index.ts";
import { type RigOptions, startRig } from "./rig.ts";

export const ANN = { id: 42, first_name: "Ann", last_name: "Lee" };
export const BO = { id: 55, first_name: "Bo" };
export const EVE = { id: 77, first_name: "Eve" };
/** Every message reaches the agent; only those that name it; only `web_fetch` may be used; only the owner may talk. */
export const GROUP = { open: -100_500, mention: -100_600, narrow: -100_700, closed: -100_800 };

export type TelegramRig = Awaited<ReturnType<typeof startTelegramRig>>;

export async function startTelegramRig(options: RigOptions = {}) {
  const fake = await startTelegram();
  const everybody = { allow: ["*"] };
  const { channels = {}, ...config } = (options.config ?? {}) as { channels?: object };
  const rig = await startRig({
    ...options,
    config: {
      routing: { scope: "per-chat" },
      channels: {
        telegram: {
          bot: {
            ...{ token: fake.token, apiUrl: fake.url, paceMs: 0, live: false },
            ...{ owners: [String(ANN.id)], allow: [String(BO.id)], dm: "open" },
            groups: {
              [GROUP.open]: { ...everybody, mention: false },
              [GROUP.mention]: { ...everybody, mention: true },
              [GROUP.closed]: { allow: [String(ANN.id)], mention: false },
              [GROUP.narrow]: { ...everybody, mention: false, tools: ["web_fetch"] },
            },
          },
        },
        ...channels,
      },
      ...config,
    },
  });
  await until("a poll", () => fake.polling());
  /** The request the model got after this update. */
  async function after(tell: () => unknown): Promise<SeenRequest> {
    // What Lares asks for itself, such as the night's look at memory when the clock jumps over it, offers no tools.
    const asked = () => rig.model.requests.filter((request) => request.tools.length > 0);
    const before = asked().length;
    tell();
    // A clock that jumps makes the channel connect again, which takes its time.
    await until("the model to be asked", () => asked().length > before, { withinMs: 45_000 });
    await until("the turn to end", async () => {
      const { running, queued } = (await rig.rpc("status", {})).turns;
      return running + queued === 0;
    });
    return asked()[before]!;
  }
  const now = () => Math.floor(rig.clock.now() / 1000);
  return Object.assign(rig, {
    fake,
    after,
    /** Says something on Telegram; gives the request it led to. */
    say: (chat: number, from: typeof ANN | typeof BO, text: string, more: Record<string, unknown> = {}) =>
      after(() => fake.say(chat, from, text, { date: now(), ...more })),
    /** The same, naming the bot. */
    call: (chat: number, from: typeof ANN | typeof BO, text: string) => {
      const at = `@${fake.bot.username}`;
      const entities = [{ type: "mention", offset: 0, length: at.length }];
      return after(() => fake.say(chat, from, `${at} ${text}`, { date: now(), entities }));
    },
    stopAll: async () => {
      await rig.stop();
      await fake.close();
    },
  });
}
