/** Teams on the real program: ready-made ones, what is said in their rooms, who answers, and a chat that is a room. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type NormalRequest, type Reply, textOf } from "../fakes/model-server/index.ts";
import { type FarSide, Lares, sendHook, startFarSide, startModel, until } from "../support/index.ts";

let model: Awaited<ReturnType<typeof startModel>>;
let far: FarSide;
let lares: Lares;
const asked: { member: string; text: string; envelope: string; system: string }[] = [];

/** What each member says, one answer after the other. */
const answers: Record<string, string[]> = {};

/** Members are known by their first words about themselves. */
function script(request: NormalRequest): Reply {
  const member = /I am (\w+)\./.exec(request.system)?.[1] ?? "main";
  const last = request.messages.at(-1)!;
  const text = textOf(last);
  asked.push({ member, text, envelope: JSON.stringify(request.messages), system: request.system });
  if (last.role === "tool") return { text: JSON.stringify(last.parts) };
  if (text.includes("use the tool")) {
    const input = { name: "room_post", input: { text: "@ada a word from the tool", author: "eve" } };
    return { toolCalls: [{ name: "tool_run", input }] };
  }
  return { text: answers[member]?.shift() ?? `${member} heard it` };
}

function makeTeam(id: string, team: object): void {
  mkdirSync(join(lares.home, "teams", id), { recursive: true });
  writeFileSync(join(lares.home, "teams", id, "team.yaml"), JSON.stringify(team));
  writeFileSync(join(lares.home, "teams", id, "TEAM.md"), "Nobody shouts.");
  for (const agent of ["ada", "bob"]) {
    mkdirSync(join(lares.home, "agents", agent), { recursive: true });
    writeFileSync(join(lares.home, "agents", agent, "SOUL.md"), `I am ${agent}.`);
  }
}

const members = [{ agent: "ada" }, { agent: "bob", role: "reviewer" }];
const said = async (id: string) =>
  (await lares.rpc("teams.posts", { id })).posts.map(({ author, text }) => `${author}: ${text}`);
const saidAre = (id: string, expected: unknown[]) =>
  until("the posts", async () => ((await said(id)).length >= expected.length ? true : undefined), {
    instead: () => said(id),
  }).then(async () => expect(await said(id)).toEqual(expected));

beforeAll(async () => {
  [model, far] = await Promise.all([startModel(), startFarSide()]);
  model.use(script);
  lares = new Lares({
    env: model.env,
    config: { channels: { webhook: { chat: { secret: far.secret, url: far.url, dedupes: true } } } },
  });
  makeTeam("pair", { title: "Pair", lead: "ada", members });
  makeTeam("loop", { title: "Loop", lead: "ada", members, room: { turns: 3 } });
  makeTeam("group", { title: "Group", lead: "ada", members, room: { chat: "webhook/chat/g1" } });
  await lares.start();
});
afterAll(async () => {
  await lares?.dispose();
  await Promise.all([model?.close(), far?.close()]);
});

it("the lead answers what addresses nobody, asks a member by name, and the exchange ends when nothing is owed (TEAMS-1)", async () => {
  answers.ada = ["@bob is it true?"];
  answers.bob = ["it is true"];
  await lares.rpc("teams.post", { id: "pair", text: "Is the sky blue?" });
  await saidAre("pair", ["owner: Is the sky blue?", "ada: @bob is it true?", "bob: it is true"]);
  const bob = asked.find(({ member }) => member === "bob")!;
  expect(bob.envelope).toMatch(/ada addressed you in the room of Pair/);
  expect(bob.system).toMatch(/Members: ada \(lead, member\), bob \(reviewer\)/);
  expect(bob.system).toContain("Nobody shouts.");
  expect(bob.envelope).toMatch(/is it true\?.*owner wrote in the room of Pair.*Is the sky blue\?/);
  const { teams } = await lares.rpc("teams.list", {});
  expect(teams.map(({ id, speaking }) => [id, speaking])).toEqual(expect.arrayContaining([["pair", undefined]]));
});

it("the same key is one post, and one answer", async () => {
  const post = { id: "pair", text: "@bob say it once", idempotencyKey: "twice" };
  answers.bob = ["once", "twice"];
  const [first, second] = [await lares.rpc("teams.post", post), await lares.rpc("teams.post", post)];
  expect(second.seq).toBe(first.seq);
  await until("the answer", async () => (await said("pair")).at(-1) === "bob: once");
  expect((await said("pair")).filter((line) => /^bob: (once|twice)$/.test(line))).toEqual(["bob: once"]);
});

it("an exchange that feeds itself ends at its limit, and says so (TEAMS-3)", async () => {
  answers.ada = ["@bob your turn", "@bob again"];
  answers.bob = ["@ada yours", "@ada never said"];
  await lares.rpc("teams.post", { id: "loop", text: "Start." });
  await saidAre("loop", [
    "owner: Start.",
    "ada: @bob your turn",
    "bob: @ada yours",
    "ada: @bob again",
    "Lares: The exchange ended at its limit of 3 answers. Write here to continue it.",
  ]);
  expect((await lares.rpc("teams.stop", { id: "loop" })).stopped).toBe(0);
});

it("whoever posts by a tool is the author, whatever it passes in (TEAMS-5)", async () => {
  const before = (await said("pair")).length;
  answers.bob = [];
  const answer = await lares.rpc("chat.send", { agent: "bob", user: "x", message: "use the tool" });
  expect(answer.state).toBe("answered");
  const posts = (await said("pair")).slice(before);
  // An unknown field is refused, so nothing was written under another name.
  expect(posts).toEqual([]);
  expect(answer.response).toMatch(/author/);
});

it("a chat can be the room: people write there, members answer there under their names", async () => {
  answers.ada = ["@bob and you?"];
  answers.bob = ["me too"];
  await sendHook(lares, "chat", far.secret, {
    id: "g-1",
    chat: "g1",
    sender: "ana",
    text: "who is here?",
  });
  const shown = () => far.shown.filter(({ chat }) => chat === "g1").map(({ text }) => text);
  await until("both answers", () => shown().length >= 2, { instead: shown });
  expect(shown()).toEqual(["**ada:** @bob and you?", "**bob:** me too"]);
  await saidAre("group", [expect.stringMatching(/: who is here\?$/), "ada: @bob and you?", "bob: me too"]);
  // The same message again, as platforms send it, is the same post.
  await sendHook(lares, "chat", far.secret, {
    id: "g-1",
    chat: "g1",
    sender: "ana",
    text: "who is here?",
  });
  expect(await said("group")).toHaveLength(3);
});

it("a task for a role goes to the member of the team that has it", async () => {
  const assignee = { kind: "role" as const, name: "reviewer" };
  const { id } = await lares.rpc("board.create", { title: "Look it through", team: "pair", assignee });
  const task = await until("bob to have done it", async () => {
    const found = await lares.rpc("board.get", { task: id });
    return found.runs.length > 0 ? found : undefined;
  });
  expect(task.runs[0]).toMatchObject({ member: "bob" });
});

it("ready-made teams are plain folders: made once, with the agents they name", async () => {
  const { templates } = await lares.rpc("teams.templates", {});
  expect(templates.map(({ id }) => id)).toEqual(["builder-reviewer", "household", "newsroom", "research-pair"]);
  const { team, madeAgents } = await lares.rpc("teams.add", { id: "home", template: "household" });
  expect(madeAgents).toEqual(["steward", "cook"]);
  expect(team.lead).toBe("steward");
  expect(readFileSync(join(lares.home, "agents/cook/SOUL.md"), "utf8")).toMatch(/You plan meals/);
  expect(existsSync(join(lares.home, "teams/home/TEAM.md"))).toBe(true);
  await expect(lares.rpc("teams.add", { id: "home", template: "household" })).rejects.toThrow(/already a team "home"/);
  await expect(lares.rpc("teams.add", { id: "x", template: "nothing" })).rejects.toThrow(/no ready-made team/);
  await expect(lares.rpc("teams.post", { id: "nope", text: "hi" })).rejects.toThrow(/no team "nope"/);
});

it("a folder that can't be used is named, and the others go on", async () => {
  makeTeam("odd", { title: "Odd", lead: "eve", members });
  const { teams, problems } = await lares.rpc("teams.list", {});
  expect(problems.join()).toMatch(/teams\/odd\/team.yaml: lead "eve" isn't a member/);
  expect(teams.map(({ id }) => id)).toContain("pair");
});
