/** How much an agent may do without asking, the strictest first. */
export const POLICY_MODES = ["ask", "record", "ignore"] as const;
export type PolicyMode = (typeof POLICY_MODES)[number];

export function stricterMode(a: PolicyMode, b: PolicyMode): PolicyMode {
  return POLICY_MODES[Math.min(POLICY_MODES.indexOf(a), POLICY_MODES.indexOf(b))]!;
}

/** The modes that let nothing more through than this one. */
export function modesWithin(most: PolicyMode): PolicyMode[] {
  return POLICY_MODES.slice(0, POLICY_MODES.indexOf(most) + 1);
}
