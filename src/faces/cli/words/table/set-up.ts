/** Commands for setting it up. */
import type { Group } from "./entry.ts";

const tokens = () => import("../../commands/tokens.ts");
const secrets = () => import("../../commands/secrets.ts");
const config = () => import("../../commands/config.ts");

export const setUp: Group = {
  name: "Set up",
  nouns: {
    import: "move in from another system",
    models: "available models",
    tokens: "access for programs and browsers",
    secrets: "values that commands need, never shown",
    config: "lares.yaml",
  },
  commands: [
    {
      name: "onboard",
      about: "set up a model and a channel; run it again to change them",
      flags: [
        {
          flag: "--provider <p>",
          about: "anthropic, openai, google, openrouter, ollama, or your own name for a server",
        },
        { flag: "--key-env <name>", about: "the variable that holds the key; the key isn't copied" },
        { flag: "--key <from>", about: "- reads the key from stdin" },
        { flag: "--base-url <url>", about: "the server's address, for your own server" },
        { flag: "--model <m>", about: "the model to use" },
        { flag: "--practice", about: "the practice model: rules, no key" },
        { flag: "--channel <kind>", about: "connect a channel as well: telegram, slack, discord, …" },
        { flag: "--set <field=value>", about: "a field of the channel; @FILE reads it, - is stdin", repeats: true },
      ],
      example: "lares onboard --provider anthropic --key-env ANTHROPIC_API_KEY --yes",
      exits: "130 interrupted; nothing was written",
      load: async () => (await import("../../onboard/onboard.ts")).onboard,
    },
    ...(["openclaw", "hermes"] as const).map((from) => ({
      name: `import ${from}`,
      takes: "<folder>",
      about: `move in from ${from === "openclaw" ? "OpenClaw" : "Hermes"}: souls, memory, skills, sessions, schedules, channels`,
      flags: [
        { flag: "--dry-run", about: "only show what would happen to each item" },
        { flag: "--with-secrets", about: "also import channel tokens, into the vault" },
      ],
      example: `lares import ${from} ~/.${from} --dry-run`,
      load: async () => (await import("../../commands/import.ts"))[from],
    })),
    {
      name: "import proposals",
      about: "list imported changes to confirm, with their differences",
      example: "lares import proposals",
      load: async () => (await import("../../commands/import.ts")).proposals,
    },
    {
      name: "import accept",
      takes: "<proposal>",
      about: "accept a proposed file, or all imported facts",
      example: "lares import accept main/SOUL.md",
      load: async () => (await import("../../commands/import.ts")).accept,
    },
    {
      name: "import reject",
      takes: "<proposal>",
      about: "discard a proposed file, or all unconfirmed imported facts",
      example: "lares import reject facts",
      load: async () => (await import("../../commands/import.ts")).reject,
    },
    {
      name: "models list",
      about: "list models and why each is available",
      example: "lares models list",
      load: async () => (await import("../../commands/models.ts")).list,
    },
    {
      name: "config get",
      takes: "[key]",
      about: "show a setting; without a key, all of them",
      example: "lares config get gateway.port",
      load: async () => (await config()).get,
    },
    {
      name: "config set",
      takes: "<key> [value]",
      about: "change one key in the file",
      flags: [{ flag: "--unset", about: "remove the key and use its default" }],
      example: "lares config set gateway.port 8080",
      load: async () => (await config()).set,
    },
    {
      name: "config check",
      about: "check the file",
      example: "lares config check",
      exits: "1 the file has errors",
      load: async () => (await config()).check,
    },
    {
      name: "config explain",
      takes: "[key]",
      about: "list keys with their defaults and meaning",
      example: "lares config explain models",
      load: async () => (await config()).explainKeys,
    },
    {
      name: "config schema",
      about: "print the JSON Schema of the file, for editors",
      example: "lares config schema > lares.schema.json",
      load: async () => (await config()).schema,
    },
    {
      name: "token",
      about: "print the owner's token",
      example: "lares token",
      load: async () => (await import("../../commands/token.ts")).token,
    },
    {
      name: "tokens list",
      about: "list tokens and browser logins",
      example: "lares tokens list",
      load: async () => (await tokens()).list,
    },
    {
      name: "tokens create",
      takes: "<name>",
      about: "create a token with some of your rights; it is shown once",
      flags: [
        {
          flag: "--scope <s>",
          about: "a right; repeat for more (read)",
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
      about: "revoke a token or a login immediately",
      example: "lares tokens revoke 3f9a2c",
      load: async () => (await tokens()).revoke,
    },
    {
      name: "secrets list",
      about: "list the names in the vault, and which agents get them",
      example: "lares secrets list",
      load: async () => (await secrets()).list,
    },
    {
      name: "secrets set",
      takes: "<name>",
      about: "store a secret, typed hidden or read from stdin",
      example: "lares secrets set GITHUB_TOKEN < token.txt",
      load: async () => (await secrets()).set,
    },
    {
      name: "secrets remove",
      takes: "<name>",
      about: "delete a secret and remove it from the agents that use it; asks first",
      example: "lares secrets remove GITHUB_TOKEN --yes",
      exits: "7 you answered no",
      load: async () => (await secrets()).remove,
    },
    {
      name: "secrets grant",
      takes: "<name> <agent>",
      about: "give a secret to this agent's commands as a variable of the same name",
      example: "lares secrets grant GITHUB_TOKEN main",
      load: async () => (await secrets()).grant,
    },
    {
      name: "secrets revoke",
      takes: "<name> <agent>",
      about: "stop giving a secret to this agent's commands",
      example: "lares secrets revoke GITHUB_TOKEN main",
      load: async () => (await secrets()).revoke,
    },
    {
      name: "secrets keyring",
      takes: "[on|off]",
      about: "show where the vault's key is; on moves it to the OS keyring, off back to a file",
      example: "lares secrets keyring on",
      exits: "3 no usable keyring",
      load: async () => (await secrets()).keyring,
    },
  ],
};
