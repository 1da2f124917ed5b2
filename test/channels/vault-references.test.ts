/** `lares channels add` writes references to the vault; the command line cannot open it and must not judge their form. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { schema } from "../../src/app/config.ts";
import type { AppError } from "../../src/core/domain/index.ts";
import { ADAPTERS } from "../../src/edges/channels/index.ts";
import { cli } from "../../src/faces/cli/testing.ts";
import { type ConfigProblem, parseConfig } from "../../src/ground/config/index.ts";
import { scratch } from "../support/index.ts";
import { pretend } from "../support/pretend.ts";

const FILE = `channels:
  telegram:
    main:
      token: vault:CHANNEL_TELEGRAM_MAIN_TOKEN
  slack:
    main:
      botToken: vault:CHANNEL_SLACK_MAIN_BOTTOKEN
      appToken: vault:CHANNEL_SLACK_MAIN_APPTOKEN
`;

const parse = (text: string, lookUp?: (text: string) => string) => parseConfig({ schema, env: {}, text, lookUp });

test("a file with references to the vault passes `config check`, and `config set` changes it", async () => {
  const home = scratch("references");
  const file = join(home, "lares.yaml");
  writeFileSync(file, FILE);
  const run = async (...argv: string[]) => {
    const ran = cli(["config", ...argv], { home, configSchema: async () => schema });
    return { code: await ran.code, err: ran.err() };
  };
  expect(await run("check")).toMatchObject({ code: 0, err: expect.not.stringContaining("looks like") });
  expect(await run("set", "gateway.port", "8080")).toMatchObject({ code: 0 });
  expect(readFileSync(file, "utf8")).toContain("port: 8080");
  expect(readFileSync(file, "utf8")).toContain("token: vault:CHANNEL_TELEGRAM_MAIN_TOKEN");
});

test("the rest of the file is read as it stands, defaults included", async () => {
  const { config } = await parse(FILE);
  expect(config.channels).toMatchObject({
    telegram: { main: { token: "vault:CHANNEL_TELEGRAM_MAIN_TOKEN", apiUrl: "https://api.telegram.org" } },
    slack: { main: { botToken: "vault:CHANNEL_SLACK_MAIN_BOTTOKEN", apiUrl: "https://slack.com/api" } },
  });
});

test("secrets themselves are still judged: written in the file, or fetched from the vault", async () => {
  await expect(parse("channels: {telegram: {main: {token: nonsense}}}")).rejects.toThrow("such as 123456");
  await expect(parse(FILE, (text) => text.replace(/^vault:.*/, "nonsense"))).rejects.toThrow("such as 123456");
  const both = `${FILE}      signingSecret: vault:CHANNEL_SLACK_MAIN_SIGNINGSECRET\n`;
  await expect(parse(both)).rejects.toThrow("either appToken");
});

test.each(Object.values(ADAPTERS).map((one) => [one.name, one.secrets] as const))(
  "%s: every secret may be a reference",
  async (name, secrets) => {
    const account: Record<string, unknown> = {};
    for (const secret of secrets) {
      const [outer = "", inner] = secret.split(".");
      account[outer] = inner ? { [inner]: "vault:X" } : "vault:X";
    }
    const text = JSON.stringify({ channels: { [name]: { main: account } } });
    const problems = await parse(text).then(
      () => [],
      (error: AppError) => pretend<ConfigProblem[]>(error.details?.problems),
    );
    const wrong = problems.filter(({ path }) => secrets.some((secret) => path === `channels.${name}.main.${secret}`));
    // Some exclude each other; what their text looks like is never the problem.
    expect(wrong.filter(({ message }) => !message.includes("either"))).toEqual([]);
  },
);
