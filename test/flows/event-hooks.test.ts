/** Hooks on the real program: commands in Claude Code's format and signed webhooks, gates and observers, and the PL cases. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  type HookReceiver,
  type Lares,
  needs,
  type ReceivedEvent,
  scratch,
  startHookReceiver,
  startLares,
  startModel,
  toolResults,
  until,
  userTexts,
} from "../support/index.ts";
import { processesNaming } from "../support/processes.ts";

interface World {
  lares: Lares;
  model: Awaited<ReturnType<typeof startModel>>;
}

async function start(eventHooks: object, more: object = {}): Promise<World> {
  const model = await startModel();
  const lares = await startLares({ env: model.env, config: { policy: { mode: "record" }, eventHooks, ...more } });
  onTestFinished(async () => {
    await lares.dispose();
    await model.close();
  });
  return { lares, model };
}

async function startReceiver(reply?: (to: ReceivedEvent) => ReturnType<HookReceiver["reply"]>): Promise<HookReceiver> {
  const receiver = await startHookReceiver();
  if (reply) receiver.reply = reply;
  onTestFinished(() => receiver.close());
  return receiver;
}

/** Claude Code's `hooks`, as people have it in .claude/settings.json. */
function pasted(event: string, command: string, matcher = "Bash", more: object = {}) {
  return { commands: { [event]: [{ matcher, hooks: [{ type: "command", command, ...more }] }] } };
}

const webhook = ({ url, secret }: HookReceiver, events: string[], more: object = {}) => ({
  webhooks: { ear: { url, secret, events, ...more } },
});

const run = (command: string, last = "say:done") => `tool:exec ${JSON.stringify({ command })} then: ${last}`;
const wrote = (lares: Lares) => existsSync(join(lares.workspace(), "witness"));
const lastResults = ({ model }: World) => toolResults(model.requests.at(-1)!).map(({ text }) => text);
const listed = async ({ lares }: World) => (await lares.rpc("hooks.list", {})).hooks;

describe("a command hook in Claude Code's format", () => {
  it("reads the call as JSON and denies it with exit code 2: nothing runs, and the model reads why", async () => {
    const command =
      'grep -q \'"tool_name":"Bash"\' || exit 0; cat >/dev/null; echo "no writing on Fridays" >&2; exit 2';
    const world = await start(pasted("PreToolUse", command));
    const { response } = await world.lares.chat("ann", run("echo x > witness"));
    expect(response).toBe("done");
    expect(wrote(world.lares)).toBe(false);
    expect(lastResults(world)[0]).toMatch(/^Not allowed: Hook "command:PreToolUse:1": no writing on Fridays\./s);
  });

  it("leaves other tools and other answers alone", async () => {
    const world = await start(pasted("PreToolUse", "exit 2", "Edit|Write"));
    await world.lares.chat("ann", run("echo x > witness"));
    expect(wrote(world.lares)).toBe(true);
    expect((await listed(world))[0]).toMatchObject({ name: "command:PreToolUse:1", failures: 0 });
  });

  it("asks: the turn parks, and the approved call runs without asking the hook again", async () => {
    const answer = { hookSpecificOutput: { permissionDecision: "ask", permissionDecisionReason: "big machine" } };
    const world = await start(pasted("PreToolUse", `echo '${JSON.stringify(answer)}'`), {
      gateway: { http: { wait: 0.05 } },
    });
    const { lares } = world;
    const { turn } = await lares.chat("ann", run("echo x > witness"));
    const [asked] = (await lares.rpc("approvals.list", {})).approvals;
    expect(asked).toMatchObject({ turn, because: expect.stringContaining("big machine") });
    expect(wrote(lares)).toBe(false);
    const before = (await listed(world))[0]!.calls;
    await lares.rpc("approvals.resolve", { id: asked!.id, decision: "allow-once" });
    await until("the call to have run", () => wrote(lares));
    expect((await listed(world))[0]!.calls).toBe(before);
  });

  it("PL-03: an answer that allows is ignored and reported; what the gate asks about is asked, what it denies is denied (HOOKRUN-3, TURNS-15)", async () => {
    const answer = { hookSpecificOutput: { permissionDecision: "allow", updatedInput: { command: "echo owned" } } };
    const world = await start(pasted("PreToolUse", `echo '${JSON.stringify(answer)}'`), {
      gateway: { http: { wait: 0.05 } },
      policy: { mode: "ask", deny: { exec: ["touch *"] } },
    });
    const { lares } = world;
    await lares.chat("ann", run("echo x > witness"));
    expect((await lares.rpc("approvals.list", {})).approvals).toHaveLength(1);
    await lares.chat("bob", run("touch witness"));
    expect(lastResults(world)[0]).toMatch(/^Not allowed/);
    expect(wrote(lares)).toBe(false);
    const [hook] = await listed(world);
    expect(hook!.trouble).toMatch(/answered tool.planned with updatedInput, allow, which a hook can't decide/);
  });

  it("adds context to a prompt: marked with its name, behind what was said, and the instructions stay the same", async () => {
    const world = await start(pasted("UserPromptSubmit", "echo 'The build is red.'", ""));
    const { lares, model } = world;
    await lares.chat("ann", "say:one");
    await lares.chat("ann", "say:two");
    const [first, second] = model.requests;
    const note = (n: number) => userTexts(model.requests[n]!).join("\n");
    expect(note(0)).toMatch(/say:one[\s\S]*Note from the hook "command:UserPromptSubmit:1"[\s\S]*The build is red\./);
    expect(second!.system).toEqual(first!.system);
    // What was sent stays sent, byte for byte: the prompt cache covers the note of the first turn.
    const sent = JSON.stringify(first!.messages);
    expect(JSON.stringify(second!.messages.slice(0, first!.messages.length))).toBe(sent);
    // Text from outside (I12).
    const context = await lares.rpc("sessions.list", {});
    expect(context.sessions).toHaveLength(1);
  });

  it("Stop asks for one more pass, once", async () => {
    const world = await start(pasted("Stop", "echo 'name your source' >&2; exit 2", ""));
    const { response } = await world.lares.chat("ann", "say:it is so then: say:it is so, says the manual");
    expect(response).toContain("it is so, says the manual");
    expect(world.model.requests).toHaveLength(2);
    expect(userTexts(world.model.requests[1]!).at(-1)).toContain("name your source");
  });

  it.skipIf(!needs("bwrap", "what a hook's sandbox lets it write"))(
    "runs in the sandbox with a built environment: no keys, no writing outside its folders (HOOKRUN-1)",
    async () => {
      const probe = scratch("hook-probe");
      const script = join(probe, "probe.sh");
      writeFileSync(
        script,
        `#!/bin/bash\ncat >/dev/null\nenv | cut -d= -f1 | sort | tr '\\n' ' ' >&2\ntouch ${probe}/out 2>/dev/null && echo WROTE >&2\nexit 2\n`,
      );
      chmodSync(script, 0o755);
      const world = await start(pasted("PreToolUse", script));
      await world.lares.chat("ann", run("echo x > witness"));
      const [said] = lastResults(world);
      expect(said).toContain("CLAUDE_PROJECT_DIR");
      expect(said).not.toMatch(/ANTHROPIC|LARES_TOKEN|WROTE/);
      expect(existsSync(join(probe, "out"))).toBe(false);
    },
  );

  it.skipIf(!needs("bwrap", "the network of hooks"))(
    "has the network only where its definition opens it, whatever commands may do (HOOKRUN-1)",
    async () => {
      const { port } = new URL((await startReceiver()).url);
      const script = join(scratch("hook-reach"), "reach.sh");
      const said = `(: </dev/tcp/127.0.0.1/${port}) 2>/dev/null && echo REACHED >&2 || echo CLOSED >&2`;
      writeFileSync(script, `#!/bin/bash\ncat >/dev/null\n${said}\nexit 2\n`, { mode: 0o755 });
      for (const [network, sandbox, wanted] of [
        [true, {}, "REACHED"],
        [false, { network: true }, "CLOSED"],
      ] as const) {
        const world = await start(pasted("PreToolUse", script, "Bash", { network }), { sandbox });
        await world.lares.chat("ann", run("echo x > witness"));
        expect(lastResults(world)[0]).toContain(wanted);
      }
    },
  );

  it("a script that agents can change isn't a gate: it doesn't run, and the call is denied (HOOKRUN-2)", async () => {
    const world = await start(pasted("PreToolUse", '"$CLAUDE_PROJECT_DIR"/check.sh'));
    const { lares } = world;
    writeFileSync(join(lares.workspace(), "check.sh"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
    await lares.chat("ann", run("echo x > witness"));
    expect(lastResults(world)[0]).toMatch(/agents can change .*check\.sh/);
    expect(wrote(lares)).toBe(false);
  });

  it("a repository's own .claude/settings.json starts nothing", async () => {
    const world = await start({});
    const { lares } = world;
    mkdirSync(join(lares.workspace(), ".claude"), { recursive: true });
    const { commands } = pasted("PreToolUse", `touch ${lares.workspace()}/started; exit 2`);
    writeFileSync(join(lares.workspace(), ".claude", "settings.json"), JSON.stringify({ hooks: commands }));
    await lares.chat("ann", run("echo x > witness"));
    expect(wrote(lares)).toBe(true);
    expect(existsSync(join(lares.workspace(), "started"))).toBe(false);
    expect(await listed(world)).toEqual([]);
  });
});

describe("a hook that is broken is contained", () => {
  it.each([
    ["loops", "while :; do :; done", /didn't answer within 1 s/],
    ["exits at once", "exit 7", /exited with code 7/],
    ["doesn't exist", "/no/such/program", /exited with code 127/],
    ["prints garbage", "echo '{not json'", /begins like JSON and isn't/],
    ["answers with 10 MB", `head -c 10000000 /dev/zero | tr '\\0' x`, /printed more than 30000 characters/],
    ["floods its output", "yes deny", /didn't answer within 1 s|printed more than|was ended/],
    ["answers with nonsense", `echo '{"deny": 7}'`, /its answer can't be read/],
  ])("%s: the gate denies with the reason, the turn goes on, and so does the next", async (_what, command, why) => {
    const world = await start(pasted("PreToolUse", command, "Bash", { timeout: 1 }));
    const { lares } = world;
    const { response, turn } = await lares.chat("ann", run("echo x > witness"));
    expect(response).toBe("done");
    // The person reads it, too.
    expect((await lares.rpc("turns.get", { turn: turn! })).notices?.join()).toMatch(why);
    expect(lastResults(world)[0]).toMatch(why);
    expect(wrote(lares)).toBe(false);
    expect((await lares.chat("bob", "say:as ever")).response).toBe("as ever");
    expect((await listed(world))[0]).toMatchObject({ failures: 1, trouble: expect.stringMatching(why) });
    await until("the command to be gone", () => processesNaming(join(lares.home, "runs")).length === 0);
  });

  it("with onFail: pass the call runs, and the failure is still reported", async () => {
    const world = await start(pasted("PreToolUse", "exit 7", "Bash", { onFail: "pass" }));
    const { turn } = await world.lares.chat("ann", run("echo x > witness"));
    expect(wrote(world.lares)).toBe(true);
    const { notices } = await world.lares.rpc("turns.get", { turn: turn! });
    expect(notices?.join()).toMatch(/exited with code 7/);
  });
});

describe("webhooks that answer", () => {
  it("PL-02: a recorded answer is used after kill -9, and the hook is not asked again (HOOKED-6, TURNS-14)", async () => {
    const receiver = await startReceiver(() => ({ json: { deny: "not today" } }));
    const world = await start(webhook(receiver, ["tool.planned"]));
    const { lares } = world;
    await lares.stop();
    // The third recorded step is the second model call; the judgement with the hook's answer is the one before.
    await lares.start({ LARES_CRASH_AT: "model.before:2" });
    const died = lares.gone;
    await lares.chat("ann", run("echo x > witness"), { key: "k" }).catch(() => undefined);
    expect(await died).toMatchObject({ signal: "SIGKILL" });
    expect(receiver.received).toHaveLength(1);
    receiver.reply = () => ({ json: {} });
    await lares.start({ LARES_CRASH_AT: "" });
    expect((await lares.chat("ann", run("echo x > witness"), { key: "k" })).response).toBe("done");
    expect(receiver.received).toHaveLength(1);
    expect(lastResults(world)[0]).toMatch(/not today/);
    expect(wrote(lares)).toBe(false);
    expect(receiver.badSignatures).toBe(0);
  });

  it("a hook that was removed while a turn was down changes nothing of what is recorded (TURNS-14)", async () => {
    const receiver = await startReceiver(({ event }) => ({
      json: event === "answer.ready" ? {} : { shorten: { head: 3 } },
    }));
    const world = await start({
      webhooks: {
        gate: { url: receiver.url, secret: receiver.secret, events: ["answer.ready"] },
      },
      commands: { PostToolUse: [{ hooks: [{ type: "command", command: `echo '{"shorten":{"head":3}}'` }] }] },
    });
    const { lares } = world;
    await lares.stop();
    await lares.start({ LARES_CRASH_AT: "end.before" });
    const died = lares.gone;
    await lares.chat("ann", run("echo hello"), { key: "k" }).catch(() => undefined);
    await died;
    lares.configure({ policy: { mode: "record" } });
    await lares.start({ LARES_CRASH_AT: "" });
    expect((await lares.chat("ann", run("echo hello"), { key: "k" })).response).toBe("done");
    expect(lastResults(world)[0]).toBe("hel[…]");
  });

  it("leaves out tools, shortens results and takes texts out of them", async () => {
    const receiver = await startReceiver(({ event }) =>
      event === "context.building"
        ? { json: { tools: ["exec"] } }
        : { json: { shorten: { remove: ["hunter2"] }, notes: ["a password was taken out"] } },
    );
    const world = await start({
      webhooks: {
        tools: { url: receiver.url, secret: receiver.secret, events: ["context.building"] },
      },
      commands: {
        PostToolUse: [
          {
            matcher: "Bash",
            hooks: [{ type: "command", command: `echo '{"shorten":{"remove":["hunter2"]},"notes":["taken out"]}'` }],
          },
        ],
      },
    });
    await world.lares.chat("ann", 'tool:list {"path":"."} tool:exec {"command":"echo pass: hunter2"} then: say:done');
    const [list, exec] = lastResults(world);
    expect(list).toMatch(/^Not allowed:.*left out the tool list/s);
    expect(exec).toMatch(/^pass: \[…\]/);
    expect(exec).toContain('[Note from the hook "command:PostToolUse:1": taken out]');
    expect(exec).not.toContain("hunter2");
  });

  it("an answer that is held back reaches nobody: not the caller, not those who watch it grow", async () => {
    const receiver = await startReceiver(() => ({ json: { deny: "it names a customer" } }));
    const world = await start(webhook(receiver, ["answer.ready"]));
    const { lares } = world;
    const stream = await lares.request("POST", "/v1/chat/completions", {
      body: {
        model: "lares",
        stream: true,
        user: "ann",
        messages: [{ role: "user", content: "say:Mr Jones owes us" }],
      },
    });
    expect(stream.text).not.toContain("Jones");
    expect(stream.text).toContain("it names a customer");
    const answer = await lares.chat("bob", "say:Mr Jones owes us");
    expect(answer.headers.get("x-lares-state")).toBe("declined");
    expect(answer.response).not.toContain("Jones");
  });

  it("declines a turn before a model is asked", async () => {
    const receiver = await startReceiver(() => ({ json: { deny: "closed until Monday" } }));
    const world = await start(webhook(receiver, ["context.building"]));
    expect((await world.lares.chat("ann", "say:hi")).response).toMatch(/closed until Monday/);
    expect(world.model.requests).toHaveLength(0);
  });

  it("a receiver that never answers counts as a denial within its time (HOOKED-5)", async () => {
    const receiver = await startReceiver(() => ({ hangs: true }));
    const world = await start(webhook(receiver, ["tool.planned"], { timeout: 0.3 }));
    await world.lares.chat("ann", run("echo x > witness"));
    expect(lastResults(world)[0]).toMatch(/didn't answer within 0.3 s/);
    expect(wrote(world.lares)).toBe(false);
  });
});

describe("observers", () => {
  const EVENTS = ["message.received", "turn.started", "model.called", "tool.finished", "turn.ended", "session.opened"];

  it("hear what happened in a turn, in order and signed, and no turn waits for them", async () => {
    const receiver = await startReceiver();
    const world = await start(webhook(receiver, EVENTS));
    await world.lares.chat("ann", run("echo hello"));
    await until("the end to be heard", () => receiver.events("turn.ended").length === 1);
    expect(receiver.received.map(({ event }) => event)).toEqual([
      ...["session.opened", "message.received", "turn.started", "model.called", "tool.finished"],
      ...["model.called", "turn.ended"],
    ]);
    expect(receiver.events("tool.finished")[0]!.data).toMatchObject({ tool: "exec", input: { command: "echo hello" } });
    expect(receiver.badSignatures).toBe(0);
  });

  it("an observer that is down holds up nobody, and hears everything once it is back, also after kill -9 (HOOKED-7, HOOKED-8)", async () => {
    const [down, up] = await Promise.all([startReceiver(() => ({ status: 503 })), startReceiver()]);
    const hook = ({ url, secret }: HookReceiver) => ({ url, secret, events: ["turn.ended"] });
    const { lares } = await start({ webhooks: { down: hook(down), up: hook(up) } });
    const texts = ["one", "two", "three"];
    for (const text of texts) await lares.chat("ann", `say:${text}`);
    await until("the other to have heard all", () => up.events("turn.ended").length === 3);
    await until("a failed try", () => down.received.length > 0);
    const { hooks } = await lares.rpc("hooks.list", {});
    expect(hooks.find(({ name }) => name === "webhook:down")).toMatchObject({
      waiting: 3,
      trouble: expect.stringMatching(/answered with 503/),
    });
    await lares.kill9();
    down.received.length = 0;
    down.reply = () => ({});
    await lares.start();
    await until("everything to be heard", () => down.events("turn.ended").length >= 3);
    expect(down.received.map(({ data }) => data.text)).toEqual(texts);
    // The one that was up may hear the last again, under the same id; nothing new.
    expect(new Set(up.received.map(({ id }) => id)).size).toBe(3);
  });

  it("what a deleted conversation said is not sent afterwards", async () => {
    const receiver = await startReceiver(() => ({ status: 503 }));
    const { lares } = await start(webhook(receiver, ["turn.ended", "session.closed"]));
    const { session } = await lares.chat("ann", "say:a secret");
    await until("a failed try", () => receiver.received.length > 0);
    await lares.rpc("sessions.delete", { session: session! });
    receiver.received.length = 0;
    receiver.reply = () => ({});
    await lares.restart();
    await until("the deletion to be heard", () => receiver.events("session.closed").length === 1);
    expect(receiver.events("turn.ended")).toEqual([]);
  });

  it("a command that observes runs for each event, and one that fails isn't run for the same event forever", async () => {
    const world = await start({
      commands: { "turn.ended": [{ hooks: [{ type: "command", command: "cat >> seen.jsonl; exit 1" }] }] },
    });
    const { lares } = world;
    for (const text of ["one", "two"]) await lares.chat("ann", `say:${text}`);
    await until("both to be heard", async () => (await listed(world))[0]!.calls === 2);
    await until("nothing to be left", async () => (await listed(world))[0]!.waiting === 0);
  });
});

it("hooks.test calls one hook with a made-up event and says what its answer would do", async () => {
  const world = await start({
    ...pasted(
      "PreToolUse",
      `echo '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}}'`,
    ),
  });
  const done = await world.lares.rpc("hooks.test", { name: "command:PreToolUse:1" });
  expect(done).toMatchObject({ event: "tool.planned", ok: true, said: expect.stringMatching(/^denies: .*no\.$/) });
  await expect(world.lares.rpc("hooks.test", { name: "nobody" })).rejects.toThrow(/There is no hook "nobody"/);
});

it("hooks follow the configuration without a restart; what can't be used is said", async () => {
  const world = await start({});
  const { lares } = world;
  expect(await listed(world)).toEqual([]);
  lares.configure({
    policy: { mode: "record" },
    eventHooks: {
      commands: { ...pasted("PreToolUse", "exit 2").commands, PreCompact: [{ hooks: [{ command: "true" }] }] },
    },
  });
  await until("the hook to be there", async () => (await listed(world)).length === 1);
  await lares.chat("ann", run("echo x > witness"));
  expect(wrote(lares)).toBe(false);
  expect((await lares.rpc("hooks.list", {})).problems).toEqual([expect.stringContaining("PreCompact is not used")]);
  lares.configure({ policy: { mode: "record" } });
  await until("the hook to be gone", async () => (await listed(world)).length === 0);
  await lares.chat("ann", run("echo x > witness"));
  expect(wrote(lares)).toBe(true);
  expect(readFileSync(join(lares.workspace(), "witness"), "utf8")).toBe("x\n");
});
