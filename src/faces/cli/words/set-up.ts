/** Words for setting it up. */
import type { Group } from "./word.ts";

const tokens = () => import("../commands/tokens.ts");
const secrets = () => import("../commands/secrets.ts");
const config = () => import("../commands/config.ts");

export const setUp: Group = {
  name: "Set up",
  nouns: {
    import: "moving in from another system",
    models: "who can answer",
    tokens: "keys to this door",
    secrets: "what commands need and nobody sees",
    config: "lares.yaml",
  },
  words: [
    {
      name: "onboard",
      about: "first run: a model, a channel; again, to change it",
      flags: [
        { flag: "--provider <p>", about: "anthropic, openai, google, openrouter, ollama, or a name of your own" },
        { flag: "--key-env <name>", about: "the variable that holds the key; it stays there" },
        { flag: "--key <from>", about: "- reads the key from stdin" },
        { flag: "--base-url <url>", about: "where the model is, for a server of your own" },
        { flag: "--model <m>", about: "the model that answers" },
        { flag: "--practice", about: "the practice model: rules, no key" },
        { flag: "--channel <kind>", about: "connect a channel as well: telegram, slack, discord, …" },
        { flag: "--set <field=value>", about: "a field of the channel; @FILE reads it, - is stdin", repeats: true },
      ],
      example: "lares onboard --provider anthropic --key-env ANTHROPIC_API_KEY --yes",
      exits: "130 interrupted; nothing was written",
      load: async () => (await import("../onboard/onboard.ts")).onboard,
    },
    ...(["openclaw", "hermes"] as const).map((from) => ({
      name: `import ${from}`,
      takes: "<dir>",
      about: `move in from ${from === "openclaw" ? "OpenClaw" : "Hermes"}: souls, memory, skills, sessions, schedules, channels`,
      flags: [
        { flag: "--dry-run", about: "only show what would become of each item" },
        { flag: "--with-secrets", about: "also tokens of channel accounts; they go to the vault" },
      ],
      example: `lares import ${from} ~/.${from} --dry-run`,
      load: async () => (await import("../commands/import.ts"))[from],
    })),
    {
      name: "import proposals",
      about: "what an import brought and waits for your word, with the difference",
      example: "lares import proposals",
      load: async () => (await import("../commands/import.ts")).proposals,
    },
    {
      name: "import accept",
      takes: "<proposal>",
      about: "take a proposed file, or all imported facts",
      example: "lares import accept main/SOUL.md",
      load: async () => (await import("../commands/import.ts")).accept,
    },
    {
      name: "import reject",
      takes: "<proposal>",
      about: "throw a proposed file away, or all imported facts that wait",
      example: "lares import reject facts",
      load: async () => (await import("../commands/import.ts")).reject,
    },
    {
      name: "models list",
      about: "the models and why each is here",
      example: "lares models list",
      load: async () => (await import("../commands/models.ts")).list,
    },
    {
      name: "config get",
      takes: "[key]",
      about: "what holds; without a key, all of it",
      example: "lares config get gateway.port",
      load: async () => (await config()).get,
    },
    {
      name: "config set",
      takes: "<key> [value]",
      about: "change one key in the file",
      flags: [{ flag: "--unset", about: "remove the key, so that its default holds" }],
      example: "lares config set gateway.port 8080",
      load: async () => (await config()).set,
    },
    {
      name: "config check",
      about: "is the file in order",
      example: "lares config check",
      exits: "1 it is not",
      load: async () => (await config()).check,
    },
    {
      name: "config explain",
      takes: "[key]",
      about: "every key with its default and a sentence",
      example: "lares config explain models",
      load: async () => (await config()).explainKeys,
    },
    {
      name: "config schema",
      about: "JSON Schema of the file, for editors",
      example: "lares config schema > lares.schema.json",
      load: async () => (await config()).schema,
    },
    {
      name: "token",
      about: "print the owner's token",
      example: "lares token",
      load: async () => (await import("../commands/token.ts")).token,
    },
    {
      name: "tokens list",
      about: "tokens and browser logins that open this door",
      example: "lares tokens list",
      load: async () => (await tokens()).list,
    },
    {
      name: "tokens create",
      takes: "<name>",
      about: "make a token with some of your rights; shown once",
      flags: [
        {
          flag: "--scope <s>",
          about: "a right, as often as needed (read)",
          choices: ["read", "write", "approvals", "admin"],
          repeats: true,
        },
      ],
      example: "lares tokens create backup --scope read",
      load: async () => (await tokens()).create,
    },
    {
      name: "tokens revoke",
      takes: "<id>",
      about: "end a token or a login at once",
      example: "lares tokens revoke 3f9a2c",
      load: async () => (await tokens()).revoke,
    },
    {
      name: "secrets list",
      about: "the names in the vault, and which agents get them",
      example: "lares secrets list",
      load: async () => (await secrets()).list,
    },
    {
      name: "secrets set",
      takes: "<name>",
      about: "put one in, asked for without showing it, or from stdin",
      example: "lares secrets set GITHUB_TOKEN < token.txt",
      load: async () => (await secrets()).set,
    },
    {
      name: "secrets remove",
      takes: "<name>",
      about: "take one out, and from the agents that got it",
      example: "lares secrets remove GITHUB_TOKEN",
      load: async () => (await secrets()).remove,
    },
    {
      name: "secrets grant",
      takes: "<name> <agent>",
      about: "this agent's commands get it as a variable of its name",
      example: "lares secrets grant GITHUB_TOKEN main",
      load: async () => (await secrets()).grant,
    },
    {
      name: "secrets revoke",
      takes: "<name> <agent>",
      about: "this agent's commands no longer get it",
      example: "lares secrets revoke GITHUB_TOKEN main",
      load: async () => (await secrets()).revoke,
    },
    {
      name: "secrets keyring",
      takes: "[on|off]",
      about: "where the vault's key is; on moves it to the OS keyring, off back to a file",
      example: "lares secrets keyring on",
      exits: "3 there is no keyring that can be used",
      load: async () => (await secrets()).keyring,
    },
  ],
};
