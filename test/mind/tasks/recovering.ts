/** Tasks about errors that lead on: what the result says is what the model does next. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { call, commandIn, result, say, type Task, withoutInResults, words } from "./task.ts";

const GAVE_UP = "It did not work.";

const nearName: Task = {
  name: "a missing file",
  element: "the near name in the error",
  without: withoutInResults(/ Did you mean [^\n]*/),
  model(request) {
    const came = result(request);
    if (came === undefined) return call("read", { path: "reprot.md" });
    const near = /Did you mean "([^"]+)"/.exec(came)?.[1];
    if (near) return call("read", { path: near });
    return say(/forty-two/.test(came) ? "It says forty-two." : GAVE_UP);
  },
  async play({ rig, fresh, put }) {
    put("report.md", "The answer is forty-two.\n");
    return (await rig.chat(fresh, "What does the report say?")).response === "It says forty-two.";
  },
};

const failedEdit: Task = {
  name: "an edit that does not fit",
  element: "the nearest lines in the error",
  without: withoutInResults(/The nearest lines are:[\s\S]*/),
  model(request) {
    const path = /in (\S+\.ts)/.exec(words(request))![1]!;
    const came = result(request);
    if (came === undefined) return call("edit", { path, old: "\treturn one;", new: "\treturn 3;" });
    const near = /^\d+: (→return \d;)$/m.exec(came)?.[1];
    if (near && /occurs 0 times/.test(came)) {
      return call("edit", { path, old: near.replaceAll("→", "\t"), new: "\treturn 3;" });
    }
    return say(/edited/.test(came) ? "Done." : GAVE_UP);
  },
  async play({ rig, fresh, put, workspace }) {
    put(`${fresh}.ts`, "function a() {\n\treturn 1;\n}\n");
    await rig.chat(fresh, `Let the function in ${fresh}.ts give back three`);
    return readFileSync(join(workspace, `${fresh}.ts`), "utf8").includes("return 3;");
  },
};

const timeout: Task = {
  name: "a command that timed out",
  element: "what to do next, in its result",
  without: withoutInResults(/\n\[It was stopped after \d+ s[\s\S]*/),
  model(request) {
    const command = commandIn(request);
    const came = result(request);
    if (came === undefined) return call("exec", { command, timeout_s: 1 });
    if (/timed out/.test(came) && /background: true/.test(came)) return call("exec", { command, background: true });
    return say(/timed out/.test(came) ? GAVE_UP : "It is running.");
  },
  async play({ rig, fresh, put }) {
    const { response } = await rig.chat(fresh, `Run \`until [ -e ${fresh}.go ]; do sleep 0.05; done\``);
    put(`${fresh}.go`, "");
    return response === "It is running.";
  },
};

const unknownTool: Task = {
  name: "a tool that isn't there",
  element: "the right tool in the error",
  without: withoutInResults(/ Use exec, [\s\S]*/),
  model(request) {
    const came = result(request);
    if (came === undefined) return call("bash", { command: "echo it-ran" });
    const tool = /Use (\w+), which takes command/.exec(came)?.[1];
    if (tool) return call(tool, { command: "echo it-ran" });
    return say(/it-ran/.test(came) ? "It ran." : GAVE_UP);
  },
  play: async ({ rig, fresh }) => (await rig.chat(fresh, "Run something")).response === "It ran.",
};

const garbage: Task = {
  name: "arguments that are no JSON",
  element: "the parse error and the fields",
  without: withoutInResults(/because the arguments[\s\S]*/),
  model(request) {
    const came = result(request);
    if (came === undefined) return { toolCalls: [{ name: "read", raw: '{"path": "greeting.txt' }] };
    const field = /not valid JSON.*fields of read: (\w+)/s.exec(came)?.[1];
    if (field) return call("read", { [field]: "greeting.txt" });
    return say(/good morning/.test(came) ? "It says good morning." : GAVE_UP);
  },
  async play({ rig, fresh, put }) {
    put("greeting.txt", "good morning\n");
    return (await rig.chat(fresh, "What does the greeting say?")).response === "It says good morning.";
  },
};

const noHits: Task = {
  name: "a search without hits",
  element: "that another case would match",
  without: withoutInResults(/; with ignore_case: true [^\]]*/),
  model(request) {
    const came = result(request);
    if (came === undefined) return call("search", { pattern: "BOILER NUMBER" });
    if (/with ignore_case: true \d+ would/.test(came))
      return call("search", { pattern: "BOILER NUMBER", ignore_case: true });
    return say(/4711/.test(came) ? "It is 4711." : GAVE_UP);
  },
  async play({ rig, fresh, put }) {
    put("boiler.txt", "the boiler number is 4711\n");
    return (await rig.chat(fresh, "Which number has the boiler?")).response === "It is 4711.";
  },
};

const cutOutput: Task = {
  name: "output that was cut",
  element: "the file and how to search it",
  without: withoutInResults(/\[[^\]\n]*(?:search|read)[^\]\n]*\]/g),
  model(request) {
    const came = result(request);
    if (came === undefined) return call("exec", { command: "seq 1 9000; echo NEEDLE-$((4000 + 711)); seq 1 9000" });
    const found = /NEEDLE-(\d+)/.exec(came)?.[1];
    if (found) return say(`It is ${found}.`);
    const path = /\[[^\]\n]*?([\w.-]+\/[\w./-]+)[^\]\n]*search|\[[^\]\n]*search[^\]\n]*?([\w.-]+\/[\w./-]+)/.exec(came);
    const file = path?.[1] ?? path?.[2];
    return file ? call("search", { pattern: "NEEDLE", path: file }) : say(GAVE_UP);
  },
  play: async ({ rig, fresh }) => (await rig.chat(fresh, "Which number does it print?")).response === "It is 4711.",
};

const noNetwork: Task = {
  name: "a command without network",
  element: "that the sandbox has none",
  without: withoutInResults(/\n\[Commands have no network here[\s\S]*/),
  model(request) {
    const came = result(request);
    if (came === undefined) return call("exec", { command: "curl -sS https://tides.example" });
    return say(
      /owner can set (\S+?)\.?\]/.test(came) ? "Commands have no network here; you can set sandbox.network." : GAVE_UP,
    );
  },
  play: async ({ rig, fresh }) => (await rig.chat(fresh, "When is high tide?")).response.includes("sandbox.network"),
};

const denied: Task = {
  name: "a call that is never allowed",
  element: "that it is final, and what to do instead",
  without: withoutInResults(/ This is final[\s\S]*/),
  model(request) {
    const came = result(request);
    const tries = request.messages.filter((message) => message.role === "tool").length;
    if (came === undefined) return call("exec", { command: "rm -rf /" });
    if (/This is final/.test(came)) return say("I may not run that; run it yourself if you want to: rm -rf /");
    return tries < 3 ? call("exec", { command: `rm -rf / # ${tries}` }) : say(GAVE_UP);
  },
  play: async ({ rig, fresh }) => (await rig.chat(fresh, "Clean up")).response.startsWith("I may not run that"),
};

const repeated: Task = {
  name: "the same call again and again",
  element: "the word to answer now",
  without: (request) => ({
    ...request,
    messages: request.messages.filter((message) => !/answer now/i.test(JSON.stringify(message.parts))),
  }),
  model: (request) =>
    /answer now/i.test(JSON.stringify(request.messages)) ? say("The folder is empty.") : call("list", { path: "." }),
  play: async ({ rig, fresh }) => (await rig.chat(fresh, "What is in the folder?")).state === "answered",
};

export const RECOVERING: readonly Task[] = [
  nearName,
  failedEdit,
  timeout,
  unknownTool,
  garbage,
  noHits,
  cutOutput,
  denied,
  repeated,
];

/** Needs a sandbox that shuts the network off. */
export const SHUT_IN: readonly Task[] = [noNetwork];
