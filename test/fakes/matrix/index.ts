export { type MatrixFake, type MatrixShown, startMatrixFake } from "./server.ts";
