/** The figures behind `/metrics`. Counted from the records when asked: nothing is counted on the way of a message. */

import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import { toAccountName } from "../../core/domain/index.ts";
import { countOpen, type OpenThings } from "./counts.ts";
import { type Metric, writeMetrics } from "./metrics.ts";

type ByState = readonly { state: string; n: number }[];

/** What is counted, and where it is found. */
export interface Counted extends OpenThings {
  turnsByState(): Promise<ByState>;
  deliveriesByState(): Promise<ByState>;
  usageByModel(): Promise<
    readonly { model: string; calls: number; unpriced: number; i: number; o: number; r: number; w: number; c: number }[]
  >;
  hooks(): readonly { hook: string; result: string; n: number }[];
  accounts(): readonly {
    channel: string;
    account: string;
    connected?: boolean | undefined;
    hearing?: boolean | undefined;
    sending?: boolean | undefined;
    unreadable: number;
  }[];
  /** Database statements since the start. */
  statements(): number;
}

export interface MetricParts {
  counted: () => Counted;
  version: string;
  sockets: () => number;
  uptimeMs: () => number;
}

export function makeMetrics(parts: MetricParts): { text(): Promise<string>; stop(): void } {
  // Begins with the first question: measuring wakes the process twenty times a second.
  let lag: IntervalHistogram | undefined;
  return {
    stop: () => lag?.disable(),
    async text() {
      if (!lag) {
        lag = monitorEventLoopDelay({ resolution: 50 });
        lag.enable();
      }
      const counted = parts.counted();
      const turns = await counted.turnsByState();
      const deliveries = await counted.deliveriesByState();
      const models = await counted.usageByModel();
      const open = await countOpen(counted);
      const memory = process.memoryUsage();
      const by = (rows: ByState) => rows.map((r) => ({ labels: { state: r.state }, value: r.n }));
      const perModel = (value: (m: (typeof models)[number]) => number) =>
        models.map((m) => ({ labels: { model: m.model }, value: value(m) }));
      const unpriced = perModel((m) => m.unpriced);
      const kinds = { input: "i", output: "o", cache_read: "r", cache_write: "w" } as const;
      const tokens = models.flatMap((m) =>
        Object.entries(kinds).map(([kind, key]) => ({ labels: { model: m.model, kind }, value: m[key] })),
      );
      const all: Metric[] = [
        gauge("lares_info", "Version of the program.", [{ labels: { version: parts.version }, value: 1 }]),
        gauge("lares_uptime_seconds", "Seconds since the start.", [{ value: parts.uptimeMs() / 1000 }]),
        gauge("lares_turns", "Turns in the records by state.", by(turns)),
        gauge("lares_turns_running", "Turns running now.", [{ value: open.turns.running }]),
        gauge("lares_approvals_pending", "Approvals waiting for a person.", [{ value: open.approvals.pending }]),
        counter(
          "lares_model_calls_total",
          "Model calls.",
          perModel((m) => m.calls),
        ),
        counter("lares_model_tokens_total", "Tokens by kind.", tokens),
        counter(
          "lares_model_cost_dollars_total",
          "Cost of calls whose price is known.",
          perModel((m) => m.c),
        ),
        counter("lares_model_calls_unpriced_total", "Model calls of unknown price.", unpriced),
        gauge("lares_deliveries", "Deliveries in the records by state.", by(deliveries)),
        counter(
          "lares_hooks_total",
          "Webhook deliveries since the start, by outcome.",
          counted.hooks().map(({ hook, result, n }) => ({ labels: { hook, result }, value: n })),
        ),
        ...(["connected", "hearing", "sending"] as const).map((sense) =>
          gauge(
            `lares_channel_${sense}`,
            `Whether the account is ${sense}; nothing where that is not known.`,
            counted
              .accounts()
              .filter((one) => one[sense] !== undefined)
              .map((one) => ({ labels: { channel: toAccountName(one) }, value: one[sense] ? 1 : 0 })),
          ),
        ),
        counter(
          "lares_channel_unreadable_total",
          "Events of the platform that could not be read since the start.",
          counted.accounts().map((one) => ({ labels: { channel: toAccountName(one) }, value: one.unreadable })),
        ),
        counter("lares_statements_total", "Database statements since the start.", [{ value: counted.statements() }]),
        gauge("lares_sockets", "Open WebSockets.", [{ value: parts.sockets() }]),
        gauge("lares_event_loop_lag_seconds", "Delay of the event loop since the last request for metrics.", [
          { labels: { quantile: "0.5" }, value: lag.percentile(50) / 1e9 },
          { labels: { quantile: "0.99" }, value: lag.percentile(99) / 1e9 },
          { labels: { quantile: "1" }, value: lag.max / 1e9 },
        ]),
        gauge("process_resident_memory_bytes", "Resident memory.", [{ value: memory.rss }]),
        gauge("nodejs_heap_size_used_bytes", "Used heap.", [{ value: memory.heapUsed }]),
      ];
      lag.reset();
      return writeMetrics(all);
    },
  };
}

function gauge(name: string, help: string, samples: Metric["samples"]): Metric {
  return { name, help, type: "gauge", samples };
}

function counter(name: string, help: string, samples: Metric["samples"]): Metric {
  return { name, help, type: "counter", samples };
}
