import { expect, test } from "vitest";
import { serverConfig } from "./config.ts";
import { hideSecrets, revealIn } from "./hide.ts";

const sounds = (key: string) => /token|key$/i.test(key);

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
