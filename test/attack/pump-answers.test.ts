import { pump } from "./pump.ts";
import { ANSWERS } from "./readers/answers.ts";

pump("what a model writes is read in time", ANSWERS);
