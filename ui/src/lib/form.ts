/** What is filled in of a form: texts, and lists where several may be chosen. Pure. */
import type { Approval } from "./app.svelte.ts";

type Form = NonNullable<Approval["form"]>;
export type FormValues = Record<string, string | string[]>;

/** Defaults are filled in, so that people see what they send. */
export function startValues({ fields }: Form): FormValues {
  return Object.fromEntries(
    fields.map(({ name, kind, usual }) => {
      if (kind === "choices") return [name, Array.isArray(usual) ? usual : []];
      if (typeof usual === "boolean") return [name, usual ? "yes" : "no"];
      return [name, usual === undefined ? "" : String(usual)];
    }),
  );
}

/** An emptied field is sent as empty: left out, it would get its default. Nothing chosen from a list counts as no answer. */
export function toAnswers({ fields }: Form, values: FormValues): FormValues {
  const isGiven = ({ name, required, usual }: Form["fields"][number]) =>
    typeof values[name] === "string" || required || usual !== undefined || values[name]!.length > 0;
  return Object.fromEntries(fields.filter(isGiven).map(({ name }) => [name, values[name] ?? ""]));
}

/** Of a refused answer: which field it is about. */
export function readWrong(details: unknown): { field: string; problem: string } | undefined {
  const { field, problem } = (details ?? {}) as { field?: unknown; problem?: unknown };
  return typeof field === "string" && typeof problem === "string" ? { field, problem } : undefined;
}
