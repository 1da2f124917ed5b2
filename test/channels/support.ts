/** What the rigs of channels share. */
import { type Lares, until } from "../support/index.ts";

/** Waits until the account is connected. */
export async function connected(lares: Lares, name: string): Promise<void> {
  const look = async () =>
    (await lares.rpc("channels.list", {}).catch(() => ({ channels: [] }))).channels.find((c) => c.name === name);
  await until(`${name} to be connected`, async () => (await look())?.connected === true, { instead: look });
}
