/** `lares chat` in a real terminal while an approval waits: letters are text, only a whole word and Enter answers. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callExec, type Lares, needs, PROGRAM, startLares, startModel, TOKEN, until } from "../support/index.ts";

const hasTmux = needs("tmux", "approvals in a real terminal");

describe.skipIf(!hasTmux)("a terminal where an approval waits", () => {
  let lares: Lares;
  let model: Awaited<ReturnType<typeof startModel>>;
  const server = `lares-test-${process.pid}`;
  const tmux = (...args: string[]) => execFileSync("tmux", ["-L", server, ...args], { encoding: "utf8" });
  const screen = () => tmux("capture-pane", "-p", "-t", "chat");
  const type = (text: string) => tmux("send-keys", "-t", "chat", "-l", text);
  const enter = () => tmux("send-keys", "-t", "chat", "Enter");
  const shows = (text: string) => until(`"${text}" on the screen`, () => screen().includes(text), { instead: screen });

  beforeAll(async () => {
    model = await startModel();
    lares = await startLares({ env: model.env });
    const command = `LARES_TOKEN=${TOKEN} ${process.execPath} ${PROGRAM} chat --home ${lares.home} --url ${lares.url}`;
    tmux("new-session", "-d", "-s", "chat", "-x", "110", "-y", "40", command);
    await shows("›");
  });
  afterAll(async () => {
    if (hasTmux) tmux("kill-server");
    await model?.close();
    await lares?.dispose();
  });

  const pending = async () => (await lares.rpc("approvals.list", { state: "pending" })).approvals;

  test("a sentence that begins with a is not an answer; yes and Enter is", async () => {
    const made = join(lares.home, "agents/main/workspace/made-by-exec");
    type(callExec(`touch ${"made-by-exec"}`));
    enter();
    await shows("Allow main to do this?");
    await until("the card to have been read", async () => (await pending())[0]!.askedAt < Date.now() - 1000);
    for (const letter of "also what is d?") type(letter);
    await shows("› also what is d?");
    expect(await pending()).toHaveLength(1);
    expect(existsSync(made)).toBe(false);
    enter();
    await until("the words to arrive whole", () => JSON.stringify(model.requests).includes("also what is d?"));
    expect(await pending()).toHaveLength(1);
    expect(existsSync(made)).toBe(false);
    type("yes");
    enter();
    await shows("allowed once");
    await until("the command to have run", () => existsSync(made));
    expect(await pending()).toHaveLength(0);
  });
});
