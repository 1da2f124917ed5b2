export { type PostgresOptions, PostgresRecords } from "./postgres.ts";
