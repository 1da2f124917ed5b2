/** Commands for running it, opening its door, and finding out what is wrong. */
import { type Flag, type Group, whole } from "./entry.ts";

const from: Flag = { flag: "--from <dir>", about: "the folder they are in (backup.folder, else backups in the home)" };
const passphrase: Flag = {
  flag: "--passphrase-file <file>",
  about: "a file with the passphrase; - reads it from stdin (backup.passphrase)",
};

export const run: Group = {
  name: "Run",
  nouns: {
    gateway: "Lares itself",
    backup: "copies of the home",
    security: "what is exposed",
    debug: "for testing Lares",
  },
  commands: [
    {
      name: "gateway run",
      about: "start Lares in the foreground",
      flags: [
        { flag: "--port <n>", about: "the port; 0 picks a free one", parse: whole(0, 65_535) },
        { flag: "--bind <addr>", about: "the address to listen on (127.0.0.1)" },
        { flag: "--exposed", about: "confirm that others may reach this address" },
      ],
      example: "lares gateway run --port 7717",
      exits: "130 after a second Ctrl-C",
      load: async () => (await import("../../commands/gateway.ts")).run,
    },
    {
      name: "dashboard",
      about: "print a one-time link that signs a browser in",
      example: "lares dashboard",
      load: async () => (await import("../../commands/dashboard.ts")).dashboard,
    },
    {
      name: "doctor",
      about: "find problems and how to fix them, even when Lares isn't running",
      example: "lares doctor",
      exits: "1 there is a problem",
      load: async () => (await import("../../doctor/doctor.ts")).doctor,
    },
    {
      name: "backup create",
      about: "copy the home while Lares works, and remove backups that backup.keep doesn't keep",
      flags: [
        { flag: "--to <dir>", about: "the folder for backups (backup.folder, else backups in the home)" },
        passphrase,
      ],
      example: "lares backup create --to /mnt/disk/lares",
      load: async () => (await import("../../commands/backup.ts")).create,
    },
    {
      name: "backup list",
      about: "list backups",
      flags: [from, passphrase],
      example: "lares backup list",
      load: async () => (await import("../../commands/backup.ts")).list,
    },
    {
      name: "backup verify",
      takes: "[id]",
      about: "restore a backup into a temporary home and start it there; sends nothing",
      flags: [from, passphrase, { flag: "--all", about: "every backup, not only the newest" }],
      example: "lares backup verify",
      exits: "1 a backup can't be restored",
      load: async () => (await import("../../commands/backup.ts")).verify,
    },
    {
      name: "backup restore",
      takes: "[id]",
      about: "put a backup in the place of the home; Lares must be stopped",
      flags: [
        from,
        passphrase,
        { flag: "--to <dir>", about: "the home to restore into (this one)" },
        { flag: "--replace", about: "move what is in that home to a folder inside it" },
      ],
      example: "lares backup restore --from /mnt/disk/lares --replace",
      load: async () => (await import("../../commands/backup.ts")).restore,
    },
    {
      name: "security audit",
      about: "check what is exposed: address, tokens, files, policy",
      example: "lares security audit",
      exits: "1 something is exposed that shouldn't be",
      load: async () => (await import("../../commands/security.ts")).audit,
    },
    {
      name: "debug crash-points",
      about: "where LARES_CRASH_AT can end the process, and LARES_BLOCK_AT block it",
      example: "lares debug crash-points",
      load: async () => (await import("../../commands/debug.ts")).crashPoints,
    },
  ],
};
