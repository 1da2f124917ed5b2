export { createLog, type Level, type Logbook, type LogLine, type LogOptions } from "./log.ts";
export { type LogFile, openLogFile } from "./log-file.ts";
export { readLogs, type StoredLog } from "./log-reader.ts";
export { type Metric, writeMetrics } from "./metrics.ts";
export { createRedactor, type Redactor } from "./redact.ts";
export { type LineSink, writeLines } from "./sink.ts";
