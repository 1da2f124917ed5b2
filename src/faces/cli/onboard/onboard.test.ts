// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references as lares.yaml has them
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AppError } from "../../../core/domain/index.ts";
import { modelsConfig } from "../../../edges/models/index.ts";
import { defineConfig } from "../../../ground/config/index.ts";
import { cli, type FakeGateway, fakeGateway, type Handlers, quietStatus, type RunOptions, until } from "../testing.ts";

const schema = defineConfig({ models: modelsConfig });
const KEY = { ANTHROPIC_API_KEY: "sk-from-environment-1234" };

let home: string;
let file: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "lares-onboard-"));
  file = join(home, "lares.yaml");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const written = () => readFileSync(file, "utf8");
const start = (argv: string[], options: Partial<RunOptions> = {}) =>
  cli(["onboard", ...argv], { home, configSchema: async () => schema, ...options });

async function run(argv: string[], options: Partial<RunOptions> = {}) {
  const ran = start(argv, options);
  return { code: await ran.code, out: ran.out(), err: ran.err() };
}

describe("with flags", () => {
  it("a key of the environment is written as a reference, never as itself", async () => {
    const { code, out } = await run(["--provider", "anthropic", "--key-env", "ANTHROPIC_API_KEY", "--yes"], {
      variables: KEY,
    });
    expect(written()).toBe(
      "models:\n  default: anthropic/claude-sonnet-5-5\n  providers:\n    anthropic:\n      keys:\n        - ${ANTHROPIC_API_KEY}\n",
    );
    expect(out.split("\n")[0]).toBe("Lares will use anthropic/claude-sonnet-5-5, with the key in ANTHROPIC_API_KEY.");
    expect(out).toContain("Not tested: Lares is not running.");
    expect(code).toBe(0);
  });

  it("a variable of another name says whose it is; the provider is known by its own", async () => {
    await run(["--provider", "openai", "--key-env", "WORK_KEY", "--model", "gpt-5-mini"], {
      variables: { WORK_KEY: "k" },
    });
    expect(written()).toContain("default: openai/gpt-5-mini");
    expect(written()).toContain("- ${WORK_KEY}");
    await run(["--key-env", "ANTHROPIC_API_KEY"], { variables: { ...KEY, WORK_KEY: "k" } });
    expect(written()).toContain("default: anthropic/claude-sonnet-5-5");
  });

  it("a key from stdin is in a file that only the owner can read, and is shown by its end only", async () => {
    writeFileSync(file, "# mine\nmodels:\n  idleTimeoutMs: 5 # slow\n");
    chmodSync(file, 0o644);
    const { out, err } = await run(["--provider", "openai", "--key", "-"], { input: "sk-very-secret-9876\n" });
    expect(written()).toContain("# mine\nmodels:\n  idleTimeoutMs: 5 # slow\n");
    expect(written()).toContain("- sk-very-secret-9876");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(out).toContain(`The key …9876 is in ${file}, which only you can read (0600).`);
    expect(out + err).not.toContain("very-secret");
  });

  it("a server of one's own is asked for its models", async () => {
    const server: Server = createServer((request, response) =>
      response.end(JSON.stringify(request.url === "/v1/models" ? { data: [{ id: "qwen" }] } : {})),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const { out } = await run(["--base-url", `${url}/`]);
    expect(written()).toBe(`models:\n  default: local/qwen\n  providers:\n    local:\n      baseUrl: ${url}\n`);
    expect(out).toContain(`Lares will use local/qwen, at ${url}.`);
    await new Promise((resolve) => server.close(resolve));
    const gone = await run(["--base-url", "http://127.0.0.1:1/v1", "--provider", "other"]);
    expect(gone.err).toContain("Which other model do you want to use? Name it with --model.");
    expect(gone.code).toBe(2);
  });

  it.each([
    [["--provider", "ollama"], "default: ollama/llama3.2", "baseUrl: http://127.0.0.1:11434/v1"],
    [["--model", "openai/gpt-5-mini"], "default: openai/gpt-5-mini", ""],
    [["--provider", "openrouter", "--key-env", "K"], "default: openrouter/openrouter/auto", "${K}"],
  ])("%s is enough", async (argv, model, more) => {
    await run(argv, { variables: { K: "k" } });
    expect(written()).toContain(model);
    expect(written()).toContain(more);
  });

  it.each([
    [["--key", "sk-123", "--provider", "openai"], "Other users of this computer can see"],
    [["--key", "-", "--provider", "openai"], "There is no key."],
    [["--key-env", "NOPE", "--provider", "openai"], "NOPE isn't set"],
    [["--provider", "openai"], "There is no key for openai."],
    [["--provider", "antropic", "--key-env", "HOME"], 'Did you mean "anthropic"?'],
    [["--base-url", "ftp://x", "--model", "m"], "isn't an http or https address"],
    [["--model", "gpt"], "doesn't name a provider"],
  ])("%s is wrong usage, and nothing is written", async (argv, message) => {
    const { code, err } = await run(argv);
    expect(err).toContain(message);
    expect(code).toBe(2);
    expect(existsSync(file)).toBe(false);
  });

  it("with nothing but --yes the best that is there is taken", async () => {
    await run(["--yes"], { variables: KEY });
    expect(written()).toContain("${ANTHROPIC_API_KEY}");
    rmSync(file);
    const none = await run(["--yes"]);
    expect(none.out).toContain("Lares will use the practice model");
    expect(existsSync(file)).toBe(false);
  });

  it("--practice goes before a key that is there", async () => {
    await run(["--practice"], { variables: KEY });
    expect(written()).toBe("models:\n  default: practice/practice\n");
  });

  it("LARES_MODEL, which goes before the file, is told", async () => {
    const { out } = await run(["--yes"], { variables: { ...KEY, LARES_MODEL: "openai/x" } });
    expect(out).toContain("LARES_MODEL is set to openai/x and overrides it.");
  });

  it("a file that is not in order is left as it is", async () => {
    writeFileSync(file, "models:\n  defautl: x/y\n");
    const { code, err } = await run(["--yes", "--key-env", "ANTHROPIC_API_KEY"], { variables: KEY });
    expect(err).toContain("defautl");
    expect(code).toBe(1);
    expect(written()).toBe("models:\n  defautl: x/y\n");
  });

  it("--json is one document without the key", async () => {
    const { out } = await run(["--provider", "openai", "--key", "-", "--json"], { input: "sk-very-secret-9876" });
    expect(JSON.parse(out)).toEqual({
      model: "openai/gpt-6.1-sol",
      file,
      changed: true,
      key: "file",
      tested: { ok: false, why: "Lares is not running.", failed: false },
    });
  });
});

describe("again", () => {
  it("the same is not written twice; something else changes it", async () => {
    await run(["--key-env", "ANTHROPIC_API_KEY"], { variables: KEY });
    const first = written();
    const again = await run(["--key-env", "ANTHROPIC_API_KEY"], { variables: KEY });
    expect(again.out).toContain("Nothing to change.");
    expect(written()).toBe(first);
    const keep = await run(["--yes"], { variables: KEY });
    expect(keep.out).toContain("Lares will use anthropic/claude-sonnet-5-5.");
    expect(written()).toBe(first);
    await run(["--provider", "anthropic", "--model", "claude-opus-5-5"], { variables: KEY });
    expect(written()).toBe(first.replace("claude-sonnet-5-5", "claude-opus-5-5"));
  });
});

describe("asking", () => {
  async function answer(ran: ReturnType<typeof start>, question: string, keys: string): Promise<void> {
    await until(() => ran.err().includes(question));
    ran.type(keys);
  }

  it("Enter three times takes the key that was found, and nothing else", async () => {
    const ran = start([], { tty: true, variables: KEY });
    await answer(ran, "1  anthropic, with the key in ANTHROPIC_API_KEY", "\n");
    await answer(ran, "Connect a channel besides", "\n");
    expect(existsSync(file)).toBe(false);
    await answer(ran, "Start Lares when the computer starts?", "\n");
    expect(await ran.code).toBe(0);
    expect(written()).toContain("${ANTHROPIC_API_KEY}");
    expect(ran.err()).toContain(`Next: lares --home ${home} gateway run`);
  });

  it("a pasted key is never shown, and what was deleted is not part of it", async () => {
    const program = { here: "node bin/lares.js", anywhere: "/usr/bin/node /srv/lares/bin/lares.js", told: "x" };
    const ran = start([], { tty: true, program });
    await answer(ran, "2  paste a key", "7\n2\n");
    await answer(ran, "Type a number from 1 to 3.", "");
    await answer(ran, "Which provider is the key for?", "2\n");
    await answer(ran, "Key (hidden):", "sk-secrex\u007ft-abcd\r");
    await answer(ran, "Model: [gpt-6.1-sol]", "\n");
    await answer(ran, "Connect a channel besides", "1\n");
    await answer(ran, "Start Lares when the computer starts?", "2\n");
    expect(await ran.code).toBe(0);
    expect(written()).toContain("- sk-secret-abcd");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(ran.err() + ran.out()).not.toContain("sk-secre");
    // A crontab has no working directory, and hardly a PATH.
    // Nor LARES_HOME: the line has to name the home.
    expect(ran.err()).toContain(`@reboot /usr/bin/node /srv/lares/bin/lares.js gateway run --home ${home}\n`);
    expect(ran.err() + ran.out()).toContain(`Next: node bin/lares.js --home ${home} gateway run`);
  });

  it("a second run offers to keep what is set", async () => {
    writeFileSync(file, "models:\n  default: openai/gpt-5-mini\n");
    const ran = start([], { tty: true, variables: KEY });
    await answer(ran, "1  keep openai/gpt-5-mini", "\n\n\n");
    expect(await ran.code).toBe(0);
    expect(written()).toBe("models:\n  default: openai/gpt-5-mini\n");
  });

  it.each(["\u0003", "\u0004"])("leaving in the middle writes nothing (%j)", async (key) => {
    const ran = start([], { tty: true, variables: KEY });
    await answer(ran, "Which model", "\n");
    await answer(ran, "Connect a channel", key);
    expect(await ran.code).toBe(130);
    expect(existsSync(file)).toBe(false);
    expect(ran.err()).toContain("Nothing was written.");
  });

  it("Ctrl-C at a question writes nothing either", async () => {
    const ran = start([], { tty: true, variables: KEY });
    await answer(ran, "Which model", "");
    ran.signal("SIGINT");
    expect(await ran.code).toBe(130);
    expect(existsSync(file)).toBe(false);
  });

  it("--no-input never asks", async () => {
    const { err, code } = await run(["--no-input"], { tty: true, input: "" });
    expect(err).not.toContain("?");
    expect(code).toBe(0);
  });
});

describe("a channel", () => {
  let gateway: FakeGateway;
  afterEach(() => gateway.close());
  const asks = [{ field: "token", what: "The bot's token", secret: true }];
  const channels: Handlers = {
    health: () => ({ ok: true, version: "1", uptimeMs: 1 }),
    "channels.kinds": () => ({
      kinds: [{ name: "telegram", title: "Telegram", asks, packages: [], installed: true }],
    }),
    "channels.add": ({ fields }) => {
      if (fields.token !== "123:abc") throw new AppError("CHANNEL_SEND", { message: "Telegram refused the token." });
      return {
        name: "telegram/main",
        who: { id: "7", name: "@lares_bot" },
        pairs: true,
        hint: "Write to it.",
        where: "lares.yaml",
      };
    },
  };
  /** Not running until it is started for the channel. */
  async function resting() {
    gateway = await fakeGateway(channels);
    await gateway.stop();
    let stopped = 0;
    const runGateway = async () => {
      await gateway.start();
      const stop = async () => {
        stopped++;
        await gateway.stop();
      };
      const model = { id: "practice", practice: true, because: "" };
      const running = { url: gateway.url, home: gateway.home, model, tokenFile: "", stop };
      return { ...running, done: new Promise<number>(() => {}) };
    };
    return { options: { home: gateway.home, runGateway }, stopped: () => stopped };
  }

  it("is set up in the same run, through a Lares that is started for it and stopped again", async () => {
    const { options, stopped } = await resting();
    const ran = start([], { ...options, tty: true });
    await until(() => ran.err().includes("Which model"));
    ran.type("1\n2\n1\n");
    await until(() => ran.err().includes("Which one?"));
    ran.type("1\n");
    await until(() => ran.err().includes("The bot's token:"));
    ran.type("123:abc\r");
    expect(await ran.code).toBe(0);
    expect(ran.out()).toContain("telegram/main: @lares_bot (7)");
    expect(ran.out() + ran.err()).not.toContain("123:abc");
    expect(gateway.callsOf("channels.add")).toEqual([
      { channel: "telegram", account: "main", fields: { token: "123:abc" }, replace: false },
    ]);
    expect(stopped()).toBe(1);
    await gateway.start();
  });

  it("nobody is sent to start a Lares that runs already", async () => {
    gateway = await fakeGateway(channels);
    const { err } = await run(["--no-input"], { home: gateway.home });
    expect(err).toContain("Lares is running. Next: lares chat");
    expect(err).not.toContain("gateway run");
  });

  it("with flags; what the platform refuses ends it with its words, and Lares is stopped all the same", async () => {
    const { options, stopped } = await resting();
    const flags = (token: string) => ["--practice", "--channel", "telegram", "--set", `token=${token}`, "--json"];
    const good = await run(flags("123:abc"), options);
    expect(JSON.parse(good.out)).toMatchObject({ model: "practice/practice", channel: "telegram/main" });
    const bad = await run(flags("wrong"), options);
    expect(bad.code).toBe(1);
    expect(bad.err + bad.out).toContain("Telegram refused the token.");
    expect(stopped()).toBe(2);
    await gateway.start();
  });
});

describe("with a running Lares", () => {
  let gateway: FakeGateway;
  afterEach(() => gateway.close());
  const model = "anthropic/claude-sonnet-5-5";
  const go = async (more: FakeGateway["more"]) => {
    gateway = await fakeGateway(
      { status: () => quietStatus({ model: { id: model, practice: false, because: "" } }) },
      more,
    );
    return run(["--yes"], { home: gateway.home, variables: KEY });
  };

  it("one tiny request tests it", async () => {
    const { out, code } = await go({ "models.test": () => ({ ok: true, ms: 800, model }) });
    expect(gateway.callsOf("models.test")).toEqual([{ provider: model.split("/")[0], model: model.split("/")[1] }]);
    expect(out).toContain("Tested: it answered in 0.8 s.");
    expect(code).toBe(0);
  });

  it("a key that is refused is told, and the end is 1", async () => {
    const { out, code } = await go({
      "models.test": () => ({ ok: false, ms: 5, model, message: "Anthropic refused the key." }),
    });
    expect(out).toContain("The test failed: Anthropic refused the key.");
    expect(code).toBe(1);
  });
});
