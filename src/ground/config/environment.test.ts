import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { readEnvironment } from "./index.ts";

test("an empty environment has the default home and nothing else", () => {
  const env = readEnvironment({});
  expect(env.home).toBe(join(homedir(), ".lares"));
  expect(env).toMatchObject({ token: undefined, model: undefined, crashAt: undefined, noColor: false, secrets: [] });
});

test("the home is absolute, with the tilde expanded", () => {
  expect(readEnvironment({ HOME: "/h" }).home).toBe("/h/.lares");
  expect(readEnvironment({ HOME: "/h", LARES_HOME: "~/x" }).home).toBe("/h/x");
  expect(readEnvironment({ LARES_HOME: "rel" }).home).toBe(resolve("rel"));
});

test("every variable of the stable surface arrives typed and frozen", () => {
  const env = readEnvironment({
    LARES_TOKEN: "t",
    LARES_MODEL: "anthropic/x",
    LARES_CRASH_AT: "model.after:2",
    ANTHROPIC_API_KEY: "a",
    ANTHROPIC_BASE_URL: "http://127.0.0.1:1/",
    OPENAI_API_KEY: "o",
    OPENAI_BASE_URL: "https://o.example/v1",
    GEMINI_API_KEY: "g",
    OPENROUTER_API_KEY: "r",
    OLLAMA_BASE_URL: "http://127.0.0.1:11434",
    NO_COLOR: "1",
  });
  expect(env).toMatchObject({ token: "t", model: "anthropic/x", crashAt: "model.after:2", noColor: true });
  expect(env.models).toEqual({
    anthropicApiKey: "a",
    anthropicBaseUrl: "http://127.0.0.1:1",
    openaiApiKey: "o",
    openaiBaseUrl: "https://o.example/v1",
    geminiApiKey: "g",
    openrouterApiKey: "r",
    ollamaBaseUrl: "http://127.0.0.1:11434",
  });
  expect(env.secrets).toEqual(["t", "a", "o", "g", "r"]);
  for (const part of [env, env.models, env.inherit, env.secrets, env.variables])
    expect(Object.isFrozen(part)).toBe(true);
});

test("a variable set to nothing is not set", () => {
  expect(readEnvironment({ LARES_TOKEN: " ", OPENAI_BASE_URL: "" })).toMatchObject({ token: undefined });
});

test("a child inherits the plain variables only: no secrets, no start-up hooks", () => {
  const env = readEnvironment({
    PATH: "/bin",
    LC_ALL: "C",
    OPENAI_API_KEY: "o",
    BASH_ENV: "evil",
    NODE_OPTIONS: "--require evil",
    LD_PRELOAD: "evil",
    "BASH_FUNC_ls%%": "() { evil; }",
  });
  expect(env.inherit).toEqual({ PATH: "/bin", LC_ALL: "C" });
});

test("an address that is none is refused without showing it", () => {
  const read = () => readEnvironment({ OPENAI_BASE_URL: "file:///etc/canary" });
  expect(read).toThrow("OPENAI_BASE_URL is not an http or https address");
  expect(read).not.toThrow("canary");
});
