/** Tasks about what the request tells before anything is done: time, speaker, place, rules. */

import { envelopeOf, textOf } from "../../fakes/model-server/index.ts";
import { until } from "../../support/index.ts";
import { ANN, BO, GROUP } from "../telegram.ts";
import {
  call,
  commandIn,
  lines,
  result,
  said,
  say,
  type Task,
  withoutInLines,
  withoutInstruction,
  words,
} from "./task.ts";

const tomorrow: Task = {
  name: "tomorrow's date",
  element: "the date in the line before a message",
  without: withoutInLines(() => undefined),
  model(request) {
    const date = lines(request)
      .findLast((line) => /\d{4}-\d\d-\d\d/.test(line))
      ?.match(/\d{4}-\d\d-\d\d/)?.[0];
    if (!date) return say("I don't know which day it is.");
    return say(`Tomorrow is ${new Date(Date.parse(date) + 86_400_000).toISOString().slice(0, 10)}.`);
  },
  play: async ({ rig, fresh }) => (await rig.chat(fresh, "Which date is tomorrow?")).response.includes("2026-11-16"),
};

const speaker: Task = {
  name: "who said it in a group",
  element: "the speaker in the line before a message",
  without: withoutInLines((line) => line.replace(/ · "[^"]*" \(\w+\)/, "")),
  model(request) {
    if (!words(request).startsWith("who")) return say("Noted.");
    const message = said(request).find((one) => /tea/.test(textOf(one)) && !/^who/.test(textOf(one)));
    const name = /"([^"]*)" \(\w+\)/.exec((message && envelopeOf(message)) ?? "")?.[1];
    return say(name ? `${name} did.` : "Somebody did.");
  },
  async play({ rig }) {
    await rig.call(GROUP.mention, BO, "I would like tea");
    await rig.call(GROUP.mention, ANN, "who wanted tea?");
    const answers = () => rig.fake.sent.filter(({ chat, text }) => chat === GROUP.mention && /did\./.test(text));
    await until("the answer", () => answers().length > 0);
    const right = answers().at(-1)!.text.includes("Bo did.");
    rig.fake.sent.length = 0;
    return right;
  },
};

const zone: Task = {
  name: "the person's time zone",
  element: "the zone in Place",
  without: withoutInstruction(/ Time zone: \S+\./),
  model: (request) => say(/Time zone: (\S+)\./.exec(request.system)?.[1] ?? "I don't know."),
  play: async ({ rig, fresh }) => (await rig.chat(fresh, "Which zone are my times in?")).response === "UTC",
};

const format: Task = {
  name: "format for Telegram",
  element: "the format line in Place",
  without: withoutInstruction(/^Format: .*$/m),
  model: (request) =>
    /wide ones lists|become lists/.test(request.system)
      ? say("- Lisbon: 0.5 million people\n- Porto: 0.2 million people")
      : say(`| Town | People |\n|---|---|\n| Lisbon, the capital on the Tagus ${"river ".repeat(12)} | 0.5 million |`),
  async play({ rig }) {
    rig.fake.sent.length = 0;
    await rig.say(ANN.id, ANN, "Two towns as a table, please");
    const shown = await until("the answer", () => rig.fake.sent.find(({ chat }) => chat === ANN.id));
    return shown.text.startsWith("• Lisbon: 0.5 million") || shown.text.startsWith("- Lisbon: 0.5 million");
  },
};

const background: Task = {
  name: "background for a long command",
  element: "the rule about work of minutes",
  without: withoutInstruction(/Put work that takes minutes in the background[^.]*\./),
  model(request) {
    const command = commandIn(request);
    const came = result(request);
    if (came !== undefined) return say(/timed out/.test(came) ? "It did not finish." : "It is running.");
    const isTold = request.system.includes("`exec` with `background`");
    return call("exec", isTold ? { command, background: true } : { command, timeout_s: 1 });
  },
  async play({ rig, fresh, put }) {
    const { response } = await rig.chat(fresh, `Run \`until [ -e ${fresh}.go ]; do sleep 0.05; done\`; it takes long.`);
    put(`${fresh}.go`, "");
    return response === "It is running.";
  },
};

const reminder: Task = {
  name: "a reminder for tomorrow",
  element: "the rule that a promise is a schedule",
  without: withoutInstruction(/Put anything for later, or repeated, in `schedule_add`[^.]*\./),
  model(request) {
    if (result(request) !== undefined) return say("You'll get a reminder tomorrow at nine.");
    if (!request.system.includes("in `schedule_add`")) return say("I'll remind you tomorrow at nine.");
    return call("schedule_add", { text: `Call the plumber. ${words(request)}`, at: "tomorrow 9am" });
  },
  async play({ rig, fresh }) {
    await rig.chat(fresh, `Remind me of ${fresh} tomorrow at nine.`);
    const { jobs } = await rig.rpc("schedule.list", {});
    return jobs.some((job) => JSON.stringify(job).includes(fresh));
  },
};

const quiet: Task = {
  name: "quiet when not addressed",
  element: "the rule when to speak in a group",
  without: withoutInstruction(/You see every message\.[\s\S]*?silence is normal\./),
  model(request) {
    if (/agent/.test(words(request))) return say("I am here.");
    const isTold = request.system.includes("Otherwise call `stay_silent`");
    return isTold ? call("stay_silent", { reason: "nobody asked me" }) : say("Have fun!");
  },
  async play({ rig }) {
    rig.fake.sent.length = 0;
    await rig.say(GROUP.open, BO, "see you at the game tonight");
    await rig.say(GROUP.open, BO, "agent, are you there?");
    const shown = () => rig.fake.sent.filter(({ chat }) => chat === GROUP.open);
    await until("the answer", () => shown().some(({ text }) => text.includes("I am here.")));
    return shown().length === 1;
  },
};

const irc: Task = {
  name: "format for IRC",
  element: "the format line in Place",
  without: withoutInstruction(/^Format: .*$/m),
  model: (request) =>
    request.system.includes("a message is one line")
      ? say("Lisbon, Porto and Faro.")
      : say("Three towns:\n\n- Lisbon\n- Porto\n- Faro"),
  async play({ irc: person }) {
    const before = person!.heard.length;
    person!.say("lares", "three towns, please");
    await until("the last town", () => person!.heard.slice(before).some(({ text }) => text.includes("Faro")));
    // A list becomes one line with dashes in it.
    return !person!.heard.slice(before).some(({ text }) => /[-•*] /.test(text));
  },
};

export const TELLING: readonly Task[] = [tomorrow, speaker, quiet, zone, format, background, reminder];
/** Needs an IRC server. */
export const ON_IRC: readonly Task[] = [irc];
