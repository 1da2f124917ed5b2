/** Commands for looking: is it alive, what did it do, what will it do next. */
import { boardCommands } from "./board.ts";
import { channelCommands } from "./channels.ts";
import { amount, type Flag, type Group, limit, whole } from "./entry.ts";
import { teamCommands } from "./teams.ts";
import { wakeCommands } from "./wakes.ts";

const turns = () => import("../../commands/turns.ts");
const heartbeat = () => import("../../commands/heartbeat.ts");
const schedule = () => import("../../commands/schedule.ts");
const when: readonly Flag[] = [
  { flag: "--in <time>", about: 'once, after this time: "30 minutes"' },
  { flag: "--at <time>", about: 'once: "tomorrow 9am", "fri 5pm", "Dec 25", or an ISO time' },
  { flag: "--every <time>", about: 'repeatedly: "2 hours", "monday 9am", "3 months"' },
  { flag: "--anchor <time>", about: 'where --every counts from: "07:00"' },
  { flag: "--cron <fields>", about: 'by cron: "0 7 * * 1-5"' },
  { flag: "--zone <zone>", about: "time zone: Europe/Lisbon" },
];
const how: readonly Flag[] = [
  { flag: "--name <name>", about: "its name" },
  { flag: "--model <m>", about: "provider/model for its runs" },
  { flag: "--catch-up <how>", about: "what to do about missed runs", choices: ["once", "all", "skip"] },
  { flag: "--deliver <to>", about: "where the answer goes: channel/account/chat, or none" },
  { flag: "--thread <t>", about: "the thread there" },
  { flag: "--best-effort", about: "don't count failed delivery as a failure" },
  {
    flag: "--script <command>",
    about: "run this command instead of a prompt, without a model; its output is the answer",
  },
  { flag: "--if <command>", about: "run only if this command exits with 0" },
  { flag: "--if-changed <file>", about: "run only if this workspace file changed" },
  { flag: "--if-exists <file>", about: "run only if this workspace file exists" },
  { flag: "--from <job>", about: "pass in the last output of this schedule" },
  { flag: "--thinking <level>", about: "how much the model thinks", choices: ["off", "low", "medium", "high"] },
  { flag: "--timeout <s>", about: "time limit in seconds (600)", parse: whole(1, 86_400) },
  { flag: "--budget <dollars>", about: "spending limit per day", parse: amount },
  { flag: "--keep <hours>", about: "keep each run's conversation this long (24)", parse: amount },
  { flag: "--alert-after <n>", about: "alert after this many failures in a row (2)", parse: whole(1, 5) },
  { flag: "--once", about: "remove after the first successful run" },
  { flag: "--may-plan", about: "allow its runs to add schedules" },
  { flag: "--may-be-quiet", about: "send nothing when there is nothing to report" },
];

export const look: Group = {
  name: "Look",
  nouns: {
    turns: "what agents did",
    schedule: "what runs on its own, and when",
    heartbeat: "what agents check regularly",
    board: "tasks for agents and people",
    goals: "what agents work towards on their own",
    teams: "agents that work together, and their rooms",
    watch: "what Lares checks for changes",
    channels: "where people can message agents",
  },
  commands: [
    {
      name: "status",
      about: "show whether Lares is running and needs you",
      example: "lares status",
      exits: "1 it has a problem",
      load: async () => (await import("../../commands/status.ts")).status,
    },
    {
      name: "turns list",
      about: "list turns, newest last",
      flags: [
        { flag: "--session <s>", about: "only this conversation" },
        { flag: "--open", about: "only unfinished turns" },
        limit(500),
      ],
      example: "lares turns list --open",
      load: async () => (await turns()).list,
    },
    {
      name: "turns get",
      takes: "<turn>",
      about: "show one turn as a timeline",
      example: "lares turns get t_01hxyz",
      load: async () => (await turns()).get,
    },
    {
      name: "schedule list",
      about: "list schedules, the next one last",
      flags: [
        limit(100_000, "show at most this many (100)"),
        { flag: "--search <text>", about: "only those whose name or id contains this" },
        { flag: "--agent <a>", about: "only this agent" },
        { flag: "--finished", about: "include finished reminders" },
      ],
      example: "lares schedule list --search mail",
      load: async () => (await schedule()).list,
    },
    {
      name: "schedule add",
      takes: "[prompt]",
      about: "add a schedule; give one of --in, --at, --every, --cron",
      flags: [
        ...when,
        ...how,
        { flag: "--agent <a>", about: "the agent that does it" },
        { flag: "--session <s>", about: "isolated, main, or a conversation's key" },
      ],
      example: 'lares schedule add "Summarise my mail" --cron "0 7 * * 1-5"',
      load: async () => (await schedule()).add,
    },
    {
      name: "schedule update",
      takes: "<id>",
      about: "change a schedule; what you don't name stays",
      flags: [
        { flag: "--prompt <text>", about: "what to do" },
        { flag: "--pause", about: "stop running it" },
        { flag: "--resume", about: "start running it again" },
        ...when,
        ...how,
      ],
      example: "lares schedule update mail --pause",
      load: async () => (await schedule()).update,
    },
    {
      name: "schedule calendar",
      about: "show upcoming runs by day",
      flags: [{ flag: "--days <n>", about: "number of days (7)", parse: whole(1, 35) }],
      example: "lares schedule calendar --days 3",
      load: async () => (await schedule()).calendar,
    },
    {
      name: "schedule remove",
      takes: "<id>",
      about: "remove a schedule; asks first",
      example: "lares schedule remove mail --yes",
      exits: "7 you answered no",
      load: async () => (await schedule()).remove,
    },
    {
      name: "schedule run",
      takes: "<id>",
      about: "run a schedule now, in addition to its times",
      example: "lares schedule run mail",
      load: async () => (await schedule()).run,
    },
    {
      name: "schedule snooze",
      takes: "<id>",
      about: "run it once more later; also works for a finished reminder",
      flags: [
        { flag: "--in <time>", about: 'after this time ("10 minutes")' },
        { flag: "--at <time>", about: 'at this time: "tomorrow 9am"' },
        { flag: "--zone <zone>", about: "time zone: Europe/Lisbon" },
      ],
      example: 'lares schedule snooze plants --in "1 hour"',
      load: async () => (await schedule()).snooze,
    },
    {
      name: "schedule history",
      takes: "<id>",
      about: "show its last runs: done, failed, missed and why",
      flags: [limit(500)],
      example: "lares schedule history mail --limit 10",
      load: async () => (await schedule()).history,
    },
    ...boardCommands,
    ...wakeCommands,
    ...teamCommands,
    {
      name: "heartbeat list",
      about: "show which agents have a heartbeat, and what it cost today",
      example: "lares heartbeat list",
      load: async () => (await heartbeat()).list,
    },
    {
      name: "heartbeat run",
      takes: "[agent]",
      about: "check now, even if nothing is new",
      example: "lares heartbeat run",
      load: async () => (await heartbeat()).run,
    },
    {
      name: "heartbeat pause",
      takes: "[agent]",
      about: "stop checking until resumed",
      example: "lares heartbeat pause main",
      load: async () => (await heartbeat()).pause,
    },
    {
      name: "heartbeat resume",
      takes: "[agent]",
      about: "start checking again",
      example: "lares heartbeat resume main",
      load: async () => (await heartbeat()).resume,
    },
    {
      name: "usage",
      about: "show tokens and cost by day, model and agent",
      flags: [
        { flag: "--days <n>", about: "number of days up to today (30)", parse: whole(1, 3660) },
        { flag: "--agent <a>", about: "only this agent" },
      ],
      example: "lares usage --days 7",
      load: async () => (await import("../../commands/usage.ts")).usage,
    },
    {
      name: "logs",
      about: "show the log; read from the file in the home when Lares isn't running",
      flags: [
        { flag: "-f, --follow", about: "keep showing new lines" },
        { flag: "-n, --lines <n>", about: "number of lines (50)", parse: whole(1, 2000) },
        { flag: "--level <l>", about: "this level and above", choices: ["debug", "info", "warn", "error"] },
      ],
      example: "lares logs -f --level warn",
      exits: "130 after Ctrl-C (with -f)",
      load: async () => (await import("../../commands/logs.ts")).logs,
    },
    ...channelCommands,
  ],
};
