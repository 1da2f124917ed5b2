/** Words for looking: is it alive, what did it do, what will it do next. */
import { channelWords } from "./channels.ts";
import { wakeWords } from "./wakes.ts";
import { amount, type Flag, type Group, limit, whole } from "./word.ts";

const turns = () => import("../commands/turns.ts");
const heartbeat = () => import("../commands/heartbeat.ts");
const schedule = () => import("../commands/schedule.ts");
const when: readonly Flag[] = [
  { flag: "--in <time>", about: 'once, after so long: "30 minutes"' },
  { flag: "--at <time>", about: 'once: "tomorrow 9am", "fri 5pm", "Dec 25", or an ISO time' },
  { flag: "--every <time>", about: 'again and again: "2 hours", "monday 9am", "3 months"' },
  { flag: "--anchor <time>", about: 'where --every counts from: "07:00"' },
  { flag: "--cron <fields>", about: 'by cron: "0 7 * * 1-5"' },
  { flag: "--zone <zone>", about: "time zone: Europe/Lisbon" },
];
const how: readonly Flag[] = [
  { flag: "--name <name>", about: "its name" },
  { flag: "--model <m>", about: "provider/model for its runs" },
  { flag: "--catch-up <how>", about: "what happens with runs that were missed", choices: ["once", "all", "skip"] },
  { flag: "--deliver <to>", about: "where the answer goes: channel/account/chat, or none" },
  { flag: "--thread <t>", about: "the thread there" },
  { flag: "--best-effort", about: "an answer that could not be delivered is no failure" },
  { flag: "--script <command>", about: "instead of a prompt, without a model; what it prints is the answer" },
  { flag: "--if <command>", about: "run only when this command ends with 0" },
  { flag: "--if-changed <file>", about: "run only when this file of the workspace changed" },
  { flag: "--if-exists <file>", about: "run only when this file of the workspace is there" },
  { flag: "--from <job>", about: "gets the last output of this job" },
  { flag: "--thinking <level>", about: "how much it thinks", choices: ["off", "low", "medium", "high"] },
  { flag: "--timeout <s>", about: "longest run in seconds (600)", parse: whole(1, 86_400) },
  { flag: "--budget <dollars>", about: "what its runs may cost in a day", parse: amount },
  { flag: "--keep <hours>", about: "how long a run's own session is kept (24)", parse: amount },
  { flag: "--alert-after <n>", about: "failures in a row before somebody is told (2)", parse: whole(1, 5) },
  { flag: "--once", about: "gone after the first good run" },
  { flag: "--may-plan", about: "its runs may make schedules" },
  { flag: "--may-be-quiet", about: "a run that finds nothing worth a message sends none" },
];

export const look: Group = {
  name: "Look",
  nouns: {
    turns: "what agents did",
    schedule: "what happens by itself, and when",
    heartbeat: "what agents look after by themselves",
    goals: "what is worked towards by itself",
    watch: "what is looked at again and again",
    channels: "where people talk to it",
  },
  words: [
    {
      name: "status",
      about: "is it running, does it need you",
      example: "lares status",
      exits: "1 it has a problem",
      load: async () => (await import("../commands/status.ts")).status,
    },
    {
      name: "turns list",
      about: "turns, the newest last",
      flags: [
        { flag: "--session <s>", about: "only this conversation's" },
        { flag: "--open", about: "only those not ended" },
        limit(500),
      ],
      example: "lares turns list --open",
      load: async () => (await turns()).list,
    },
    {
      name: "turns get",
      takes: "<turn>",
      about: "one turn as a timeline of its steps",
      example: "lares turns get t_01hxyz",
      load: async () => (await turns()).get,
    },
    {
      name: "schedule list",
      about: "what is planned, the next one last",
      flags: [
        limit(100_000, "at most so many (100)"),
        { flag: "--search <text>", about: "only those with this in name or id" },
        { flag: "--agent <a>", about: "only this agent's" },
        { flag: "--finished", about: "also reminders that are over" },
      ],
      example: "lares schedule list --search mail",
      load: async () => (await schedule()).list,
    },
    {
      name: "schedule add",
      takes: "[prompt]",
      about: "plan something; give one of --in, --at, --every, --cron",
      flags: [
        ...when,
        ...how,
        { flag: "--agent <a>", about: "who does it" },
        { flag: "--session <s>", about: "isolated, main, or a conversation's key" },
      ],
      example: 'lares schedule add "Summarise my mail" --cron "0 7 * * 1-5"',
      load: async () => (await schedule()).add,
    },
    {
      name: "schedule update",
      takes: "<id>",
      about: "change one; what is not named stays",
      flags: [
        { flag: "--prompt <text>", about: "what is to be done" },
        { flag: "--pause", about: "do not run it" },
        { flag: "--resume", about: "run it again" },
        ...when,
        ...how,
      ],
      example: "lares schedule update mail --pause",
      load: async () => (await schedule()).update,
    },
    {
      name: "schedule calendar",
      about: "what runs when in the days to come",
      flags: [{ flag: "--days <n>", about: "so many days from now (7)", parse: whole(1, 35) }],
      example: "lares schedule calendar --days 3",
      load: async () => (await schedule()).calendar,
    },
    {
      name: "schedule remove",
      takes: "<id>",
      about: "take one away; asks first",
      example: "lares schedule remove mail --yes",
      exits: "7 the question was answered with no",
      load: async () => (await schedule()).remove,
    },
    {
      name: "schedule run",
      takes: "<id>",
      about: "run one now, beside its plan",
      example: "lares schedule run mail",
      load: async () => (await schedule()).run,
    },
    {
      name: "schedule snooze",
      takes: "<id>",
      about: "once more, later; also a reminder that is over",
      flags: [
        { flag: "--in <time>", about: 'after so long ("10 minutes")' },
        { flag: "--at <time>", about: 'at this time: "tomorrow 9am"' },
        { flag: "--zone <zone>", about: "time zone: Europe/Lisbon" },
      ],
      example: 'lares schedule snooze plants --in "1 hour"',
      load: async () => (await schedule()).snooze,
    },
    {
      name: "schedule history",
      takes: "<id>",
      about: "its last runs: done, failed, missed and why",
      flags: [limit(500)],
      example: "lares schedule history mail --limit 10",
      load: async () => (await schedule()).history,
    },
    ...wakeWords,
    {
      name: "heartbeat list",
      about: "whether agents look after their HEARTBEAT.md, and what it cost today",
      example: "lares heartbeat list",
      load: async () => (await heartbeat()).list,
    },
    {
      name: "heartbeat run",
      takes: "[agent]",
      about: "beat now, whether or not something is new",
      example: "lares heartbeat run",
      load: async () => (await heartbeat()).run,
    },
    {
      name: "heartbeat pause",
      takes: "[agent]",
      about: "stop beating until it is resumed",
      example: "lares heartbeat pause main",
      load: async () => (await heartbeat()).pause,
    },
    {
      name: "heartbeat resume",
      takes: "[agent]",
      about: "beat again",
      example: "lares heartbeat resume main",
      load: async () => (await heartbeat()).resume,
    },
    {
      name: "usage",
      about: "tokens and cost by day, model and agent",
      flags: [
        { flag: "--days <n>", about: "so many days up to today (30)", parse: whole(1, 3660) },
        { flag: "--agent <a>", about: "only this agent's" },
      ],
      example: "lares usage --days 7",
      load: async () => (await import("../commands/usage.ts")).usage,
    },
    {
      name: "logs",
      about: "what Lares says about itself; from the file in the home when it isn't running",
      flags: [
        { flag: "-f, --follow", about: "and what it says from now on" },
        { flag: "-n, --lines <n>", about: "so many lines (50)", parse: whole(1, 2000) },
        { flag: "--level <l>", about: "this and worse", choices: ["debug", "info", "warn", "error"] },
      ],
      example: "lares logs -f --level warn",
      exits: "130 after Ctrl-C (with -f)",
      load: async () => (await import("../commands/logs.ts")).logs,
    },
    ...channelWords,
  ],
};
