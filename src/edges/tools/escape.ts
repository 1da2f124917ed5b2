/** Text made visible; it lives in the kit because questions to people need it too. */
export { visible, visibleLine } from "../../core/kit/index.ts";
