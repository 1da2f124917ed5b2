import { pump } from "./pump.ts";
import { DIALECT_ROWS } from "./readers/answers.ts";

pump("an answer is cut in time for every platform", DIALECT_ROWS);
