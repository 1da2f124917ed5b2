import { expect, test } from "vitest";
import { serverConfig } from "../config.ts";
import { hideSecrets, revealIn, revealInAddress } from "./hide.ts";

const sounds = {
  soundsSecret: (key: string) => /token|key$/i.test(key),
  redact: (text: string) => text.replace(/sk-\w+|(?<=:\/\/\w+:)\w+(?=@)/g, "[redacted]"),
};

test("keys in arguments go to the vault, in every way READMEs write them, and come back when the program starts", () => {
  const args = [
    "-y",
    "server",
    "--api-key",
    "abc123456",
    "--token=def456789",
    "-e",
    "SKY_TOKEN=ghi789012",
    "--port",
    "80",
  ];
  const { config, secrets } = hideSecrets("sky", serverConfig.parse({ command: "npx", args }), sounds);
  expect(config.args).toEqual([
    ...["-y", "server", "--api-key", "vault:MCP_SKY_API_KEY", "--token=vault:MCP_SKY_TOKEN"],
    ...["-e", "SKY_TOKEN=vault:MCP_SKY_SKY_TOKEN", "--port", "80"],
  ]);
  expect(JSON.stringify(config)).not.toMatch(/abc123456|def456789|ghi789012/);
  const kept = new Map(secrets.map(({ name, value }) => [name, value]));
  expect(config.args.map((arg) => revealIn(arg, (name) => kept.get(name))).slice(4)).toEqual([
    ...["--token=def456789", "-e", "SKY_TOKEN=ghi789012", "--port", "80"],
  ]);
});

test("what refers to something already, and options that hold no key, stay", () => {
  const args = ["--token", "vault:MINE", "--key=${SKY}", "--keyboard", "us", "--token", "--verbose"];
  const { config, secrets } = hideSecrets("sky", serverConfig.parse({ command: "npx", args }), sounds);
  expect(config.args).toEqual(args);
  expect(secrets).toEqual([]);
});

test("keys in headers and in the address go to the vault, whatever they are called, and come back for the request", () => {
  const given = {
    url: "https://x.example/mcp?region=eu&api_key=abc%2B123456&v=2",
    headers: {
      Authorization: "Bearer ghp_abcdefghij1234567890",
      "X-Api-Key": "abcdef1234567890abcdef99",
      "X-Workspace": "quite-a-long-value",
      Cookie: "session=0123456789",
      Accept: "application/json",
      "MCP-Protocol-Version": "2025-06-18",
      "X-Debug": "true",
    },
  };
  const { config, secrets } = hideSecrets("h1", serverConfig.parse(given), sounds);
  expect(config.url).toBe("https://x.example/mcp?region=eu&api_key=vault:MCP_H1_API_KEY&v=2");
  expect(config.headers).toMatchObject({
    Accept: "application/json",
    "MCP-Protocol-Version": "2025-06-18",
    "X-Debug": "true",
  });
  expect(config.headers.Authorization).toMatch(/^Bearer vault:MCP_H1_AUTHORIZATION/);
  const written = JSON.stringify(config);
  for (const { value } of secrets) expect(written).not.toContain(value);
  expect(secrets.map(({ value }) => value).sort()).toEqual(
    [
      "abc%2B123456",
      "abcdef1234567890abcdef99",
      "ghp_abcdefghij1234567890",
      "quite-a-long-value",
      "session=0123456789",
    ].sort(),
  );
  const kept = new Map(secrets.map(({ name, value }) => [name, value]));
  const secret = (name: string) => kept.get(name);
  expect(revealInAddress(config.url ?? "", secret)).toBe(given.url);
  expect(revealIn(config.headers.Authorization ?? "", secret)).toBe(given.headers.Authorization);
  // What was taken over once stays as it is.
  expect(hideSecrets("h1", config, sounds)).toEqual({ config, secrets: [] });
});

test("a variable or an argument that looks like a key, or has a password in it, goes to the vault by its look", () => {
  const given = {
    command: "npx",
    args: ["server-postgres", "postgres://u:hunter2hunter2@db/x"],
    env: { DATABASE_URL: "postgres://u:hunter2hunter2@db/x", X: "sk-live-1234567890", LEVEL: "debug" },
  };
  const { config, secrets } = hideSecrets("db", serverConfig.parse(given), sounds);
  expect(JSON.stringify(config)).not.toMatch(/hunter2|sk-live/);
  expect(config.env.LEVEL).toBe("debug");
  expect(secrets).toHaveLength(3);
});
