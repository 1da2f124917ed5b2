/**
 * fast-check, with the seed in one place. `npm test` tries the same cases on every machine, so that what passed here passes there;
 * `LARES_SEED=random npm test` tries new ones and `LARES_SEED=n` repeats them. The long scripts draw a seed of their own each time.
 */
import fc from "fast-check";

const asked = process.env.LARES_SEED;

export const SEED = asked === "random" ? Math.floor(Math.random() * 2 ** 31) : Number(asked ?? 20_261_115);
if (!Number.isInteger(SEED)) throw new Error(`LARES_SEED is "${asked}": give a whole number, or "random".`);

fc.configureGlobal({ seed: SEED });

export default fc;
