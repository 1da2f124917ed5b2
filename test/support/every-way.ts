/**
 * Whether every variant is tried, as `npm run test:attack`, `test:gate` and `test:kill -- --points` do. `npm test` tries a sample of
 * each kind, so that it stays quick enough to be run before every commit.
 */
export const EVERY_WAY = process.env.LARES_EVERY_WAY === "1";
