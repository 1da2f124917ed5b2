/** The tables of trials: what runtimes were seen to do, and which trials are under way. */
import type { Records, RuntimeSkill } from "../../../core/contracts/index.ts";
import { defined } from "../../../core/kit/index.ts";
import type { SeenSkill } from "../plan/proofs.ts";

export interface ProofKey {
  runtime: string;
  version: string;
  machine: string;
}

export interface KnownProofs {
  seen: SeenSkill[];
  /** When it was tried; null: never with this version on this machine. */
  at: number | null;
}

/** What was seen of this version on this machine. */
export async function readProofs(records: Records, { runtime, machine, version }: ProofKey): Promise<KnownProofs> {
  const rows = await records.all<{ skill: RuntimeSkill; worked: number; note: string | null; at: number }>(
    "SELECT skill, worked, note, at FROM runtime_proof WHERE runtime = ? AND machine = ? AND version = ? ORDER BY skill",
    runtime,
    machine,
    version,
  );
  const seen = rows.map(({ skill, worked, note }) => ({
    skill,
    version,
    worked: worked === 1,
    ...defined({ note: note ?? undefined }),
  }));
  return { seen, at: rows[0]?.at ?? null };
}

/** In place of everything that was known of this runtime; the trial is over with it. */
export function keepProofs(
  records: Records,
  { runtime, machine, version }: ProofKey,
  { run, seen, at }: { run: string; seen: readonly Omit<SeenSkill, "version">[]; at: number },
): Promise<void> {
  return records.write((tx) => {
    tx.run("DELETE FROM runtime_proof WHERE runtime = ?", runtime);
    for (const { skill, worked, note } of seen)
      tx.run(
        "INSERT INTO runtime_proof (runtime, skill, version, machine, worked, note, at) VALUES (?, ?, ?, ?, ?, ?, ?)",
        runtime,
        skill,
        version,
        machine,
        worked ? 1 : 0,
        note ?? null,
        at,
      );
    tx.run("DELETE FROM runtime_trial WHERE run = ?", run);
  });
}

export function noteTrial(records: Records, trial: { run: string; runtime: string; at: number }): Promise<void> {
  return records.write((tx) =>
    tx.run(
      `INSERT INTO runtime_trial (run, runtime, at) VALUES (?, ?, ?)
       ON CONFLICT (run) DO UPDATE SET runtime = excluded.runtime, at = excluded.at`,
      trial.run,
      trial.runtime,
      trial.at,
    ),
  );
}

export function dropTrials(records: Records, runs: readonly string[]): Promise<void> {
  return records.write((tx) => {
    for (const run of runs) tx.run("DELETE FROM runtime_trial WHERE run = ?", run);
  });
}

/** Trials that a crash cut off. */
export function listTrials(records: Records): Promise<{ run: string; runtime: string }[]> {
  return records.all("SELECT run, runtime FROM runtime_trial ORDER BY at LIMIT 100");
}
