/**
 * `npm run test:gate`: every case of the reference with the canary, the hard floor, and parser agreement over 20,000 strings
 * against a real shell. Prints counts; exits 1 on any miss. `--strings N` and `--seed S` change the agreement run,
 * `--tries N` the race of swapped directories.
 */
import { performance } from "node:perf_hooks";
import { decide } from "../../src/flow/gate/index.ts";
import { agree } from "./agreement.ts";
import { EN, EX } from "./cases.ts";
import { check } from "./check.ts";
import { FLOOR, NOT_FLOOR } from "./floor-cases.ts";
import { oracle } from "./oracle.ts";
import { raceSwaps, wasRaced } from "./race.ts";
import { type Ground, ground } from "./support.ts";

const argument = (name: string, fallback: number) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
};
const say = (line: string) => process.stdout.write(`${line}\n`);

let misses = 0;
const g = ground();
try {
  await families(g);
  await hardFloor(g);
  await generated(g);
  await timing(g);
} finally {
  g.close();
}
await agreement();
await race();
say(misses === 0 ? "no miss" : `${misses} MISSES`);
process.exitCode = misses === 0 ? 0 : 1;

async function families(on: Ground): Promise<void> {
  for (const [family, cases] of [...Object.entries(EX), ...Object.entries(EN)]) {
    const wrong: string[] = [];
    for (const one of cases) {
      const problem = await check(on, one);
      if (problem) wrong.push(problem);
    }
    say(`${wrong.length === 0 ? "ok  " : "MISS"} ${String(cases.length).padStart(4)}  ${family}`);
    for (const line of wrong) say(`       ${line}`);
    misses += wrong.length;
  }
  if (on.pwned()) {
    say("MISS  the canary ran");
    misses++;
  }
}

async function hardFloor(on: Ground): Promise<void> {
  let wrong = 0;
  for (const mode of ["ask", "record", "ignore"] as const) {
    for (const command of FLOOR) {
      const { home } = on.policy.place;
      const placed = command.includes("$HOME")
        ? command
        : command.replaceAll("HOME/", `${home}/`).replace(/\bHOME$/, home);
      if ((await on.judge(placed, { mode })).verdict === "deny") continue;
      say(`       ${mode}: ${command}`);
      wrong++;
    }
  }
  for (const command of NOT_FLOOR) {
    if ((await on.judge(command, { mode: "record" })).verdict === "allow") continue;
    say(`       denied for nothing: ${command}`);
    wrong++;
  }
  say(
    `${wrong === 0 ? "ok  " : "MISS"} ${String(FLOOR.length * 3 + NOT_FLOOR.length).padStart(4)}  the hard floor, three modes`,
  );
  misses += wrong;
}

async function generated(on: Ground): Promise<void> {
  const result = await oracle(on, argument("--seed", 1) * 7919, 3000);
  const { allow, ask, deny } = result;
  say(
    `${result.misses.length === 0 ? "ok  " : "MISS"} 3000  generated strings: ${allow} allowed and run, ${ask} asked, ${deny} denied`,
  );
  for (const miss of result.misses) say(`       ${JSON.stringify(miss)}`);
  misses += result.misses.length;
}

async function timing(on: Ground): Promise<void> {
  for (const command of ["ls -la", "cat a.txt | grep alpha | sort", "for i in 1 2; do echo $(ls $i) > f$i; done"]) {
    const plan = await on.plan(command);
    const many = 5000;
    for (let i = 0; i < 500; i++) decide(on.policy, plan);
    // Processor time: the machine may be busy with something else.
    const cost = async (times: number, act: () => unknown) => {
      const begun = process.cpuUsage();
      for (let i = 0; i < times; i++) await act();
      const { user, system } = process.cpuUsage(begun);
      return (user + system) / times;
    };
    const decided = await cost(many, () => decide(on.policy, plan));
    const planned = await cost(500, () => on.plan(command));
    say(`time  decide ${decided.toFixed(1)} µs, plan ${planned.toFixed(0)} µs (CPU): ${command}`);
  }
}

async function agreement(): Promise<void> {
  const [seed, count] = [argument("--seed", 1), argument("--strings", 20_000)];
  const begun = performance.now();
  const result = await agree(seed, count);
  const s = ((performance.now() - begun) / 1000).toFixed(0);
  say(
    `${result.misses.length === 0 ? "ok  " : "MISS"} ${result.strings} strings against bash (seed ${seed}, ${s} s): the analyser claims to know ${result.known}, ${result.unparsed} unparsed, ${result.started} programs started in the known ones, ${result.misses.length} not reported, ${result.cut} batches of 100 cut short`,
  );
  for (const miss of result.misses)
    say(`       seed ${miss.seed}: ${JSON.stringify(miss.text)} started ${miss.started.join(" ")}`);
  misses += result.misses.length;
}

async function race(): Promise<void> {
  const result = await raceSwaps(argument("--tries", 100_000));
  const ok = result.escapes.length === 0 && wasRaced(result);
  say(
    `${ok ? "ok  " : "MISS"} ${result.tries} tries on a directory swapped for a link (FS-05): ${result.done} inside, ${result.refused} refused, ${result.escapes.length} outside`,
  );
  for (const line of result.escapes) say(`       ${line}`);
  if (!ok) misses++;
}
