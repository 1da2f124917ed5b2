/**
 * What tests use of the fake Matrix.
 *
 * Documentation: see server.ts
 */
export { type MatrixFake, type MatrixShown, startMatrixFake } from "./server.ts";
