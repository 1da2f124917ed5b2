/**
 * What tests use of the fake signal-cli.
 *
 * Documentation: see server.ts
 */
export { type SignalFake, type SignalShown, startSignalFake } from "./server.ts";
