export { type SignalFake, type SignalShown, startSignalFake } from "./server.ts";
