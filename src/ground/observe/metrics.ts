/** Prometheus' text form, written by hand: a dozen figures need no library. */
export interface Metric {
  name: string;
  help: string;
  type: "counter" | "gauge";
  samples: { labels?: Readonly<Record<string, string>>; value: number }[];
}

export function writeMetrics(metrics: readonly Metric[]): string {
  return metrics.map(writeOne).join("");
}

function writeOne({ name, help, type, samples }: Metric): string {
  const lines = samples.map(({ labels = {}, value }) => {
    const inside = Object.entries(labels).map(([key, text]) => `${key}="${escaped(text)}"`);
    return `${name}${inside.length ? `{${inside.join(",")}}` : ""} ${value}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

function escaped(text: string): string {
  return text.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\n/g, "\\n");
}
