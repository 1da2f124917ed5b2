/** What docs/A2A.md promises and no other test tries. */
import { expect, it, onTestFinished } from "vitest";
import { startPeer } from "../fakes/a2a/peer.ts";
import { openA2a, stateOf, textOf, told } from "../support/a2a-client.ts";
import { type Lares, startLares, startModel, until } from "../support/index.ts";

async function start(config: object = {}) {
  const model = await startModel();
  const lares = await startLares({ env: model.env, config });
  onTestFinished(async () => {
    await lares.dispose();
    await model.close();
  });
  return { lares, model };
}

async function peer(lares: Lares, name: string) {
  const { token } = await lares.rpc("tokens.create", { name, scopes: ["peer"] });
  return { ...(await openA2a(lares.url, token)), token };
}

it("the card says what the owner wrote, and the address in front of the gateway", async () => {
  const a2a = { description: "Answers questions about our opening hours.", url: "https://home.example.com/" };
  const { lares } = await start({ a2a });
  const card = (await (await fetch(`${lares.url}/.well-known/agent-card.json`)).json()) as {
    description: string;
    supportedInterfaces: { url: string }[];
  };
  expect(card.description).toBe(a2a.description);
  expect(new Set(card.supportedInterfaces.map(({ url }) => url))).toEqual(new Set(["https://home.example.com/a2a/v1"]));
});

it("a peer has 16 streams: a question beside them ends none, one more stream ends the oldest, and the task goes on", async () => {
  const { lares } = await start();
  const other = await peer(lares, "hermes");
  const { id } = await other.ask("delay:60000 say:never", { now: true });
  let ended = 0;
  const follow = () => void other.follow(id).then(() => ended++);
  follow();
  for (let n = 0; n < 15; n++) follow();
  await until("sixteen streams", async () => stateOf(await other.get(id)) === "WORKING");
  expect(ended).toBe(0);
  follow();
  await until("the oldest to end", () => ended > 0);
  expect(stateOf(await other.get(id))).toBe("WORKING");
  expect(stateOf(await other.cancel(id))).toBe("CANCELED");
  await until("the others to end", () => ended === 17);
});

it("a guest finds no agents to ask, and a peer that the owner knows does", async () => {
  const { lares, model } = await start({ a2a: { known: ["friend"] } });
  const far = await startPeer();
  onTestFinished(() => far.close());
  await lares.rpc("a2a.add", { name: "far", url: far.url, token: "peer-token" });
  const search = 'tool:tool_search {"query":"ask another agent peer_ask"} then: say:looked';
  await (await peer(lares, "guest")).ask(search);
  expect(JSON.stringify(model.requests)).not.toContain("Agents: far.");
  await (await peer(lares, "friend")).ask(search);
  expect(JSON.stringify(model.requests)).toContain("Agents: far.");
});

it("a failure is reported to the peer without the details", async () => {
  const { lares } = await start();
  const other = await peer(lares, "hermes");
  const task = await other.ask("fail:auth");
  expect(stateOf(task)).toBe("FAILED");
  expect(textOf(task)).not.toMatch(/x-api-key|anthropic|401/i);
  expect(told(await other.stream("fail:auth")).at(-1)).toBe("status FAILED");
});
