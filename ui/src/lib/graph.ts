/** Places names in a picture: related ones near, all apart. The same graph always looks the same. Pure. */
export interface GraphData {
  entities: readonly { name: string; mentions: number }[];
  relations: readonly { subject: string; relation: string; object: string }[];
}

export interface Node {
  key: string;
  name: string;
  x: number;
  y: number;
  r: number;
}

export interface Edge {
  key: string;
  relation: string;
  x1: number;
  y1: number;
  x2: number;
  y2: number;
}

const WIDTH = 600;
const HEIGHT = 360;
const MARGIN = 40;
/** Enough for forty names to come to rest; a few milliseconds. */
const ROUNDS = 200;
const LONGEST = 22;

export function layout(graph: GraphData, most: number): { nodes: Node[]; edges: Edge[] } {
  const names = new Map<string, { name: string; mentions: number }>();
  const add = (name: string, mentions: number) => {
    const key = name.toLowerCase();
    const known = names.get(key);
    if (known) known.mentions += mentions;
    else if (names.size < most) names.set(key, { name: short(name[0]!.toUpperCase() + name.slice(1)), mentions });
  };
  for (const { name, mentions } of graph.entities) add(name, mentions);
  for (const { subject, object } of graph.relations) {
    add(subject === "self" ? "You" : subject, 0);
    add(object, 0);
  }
  const keys = [...names.keys()];
  const links = new Map<string, { from: number; to: number; relation: string }>();
  for (const { subject, relation, object } of graph.relations) {
    const from = keys.indexOf((subject === "self" ? "You" : subject).toLowerCase());
    const to = keys.indexOf(object.toLowerCase());
    if (from >= 0 && to >= 0 && from !== to) links.set(`${from} ${relation} ${to}`, { from, to, relation });
  }
  // On a spiral first: no two in one place, and no dice.
  const at = keys.map((_, n) => {
    const angle = n * 2.4;
    const far = 18 * Math.sqrt(n + 0.5);
    return { x: WIDTH / 2 + far * 1.6 * Math.cos(angle), y: HEIGHT / 2 + far * Math.sin(angle) };
  });
  for (let round = 0; round < ROUNDS; round++) {
    const step = 6 * (1 - round / ROUNDS);
    const move = at.map(() => ({ x: 0, y: 0 }));
    for (let i = 0; i < at.length; i++)
      for (let j = i + 1; j < at.length; j++) {
        const dx = at[i]!.x - at[j]!.x;
        const dy = (at[i]!.y - at[j]!.y) * 1.5;
        const far = Math.max(1, Math.hypot(dx, dy));
        const push = 2600 / (far * far);
        move[i]!.x += (dx / far) * push;
        move[i]!.y += (dy / far) * push;
        move[j]!.x -= (dx / far) * push;
        move[j]!.y -= (dy / far) * push;
      }
    for (const { from, to } of links.values()) {
      const dx = at[to]!.x - at[from]!.x;
      const dy = at[to]!.y - at[from]!.y;
      const pull = (Math.hypot(dx, dy) - 90) * 0.02;
      move[from]!.x += dx * pull * 0.05;
      move[from]!.y += dy * pull * 0.05;
      move[to]!.x -= dx * pull * 0.05;
      move[to]!.y -= dy * pull * 0.05;
    }
    at.forEach((place, n) => {
      const length = Math.max(1, Math.hypot(move[n]!.x, move[n]!.y));
      place.x = clamp(place.x + (move[n]!.x / length) * Math.min(length, step), WIDTH);
      place.y = clamp(place.y + (move[n]!.y / length) * Math.min(length, step), HEIGHT);
    });
  }
  const nodes = keys.map((key, n) => {
    const { name, mentions } = names.get(key)!;
    return { key, name, x: at[n]!.x, y: at[n]!.y, r: 5 + Math.min(12, 2 * Math.log2(1 + mentions)) };
  });
  const edges = [...links].map(([key, { from, to, relation }]) => {
    const [a, b] = [at[from]!, at[to]!];
    return { key, relation, x1: a.x, y1: a.y, x2: b.x, y2: b.y };
  });
  return { nodes, edges };
}

function clamp(value: number, size: number): number {
  return Math.max(MARGIN, Math.min(size - MARGIN, value));
}

function short(name: string): string {
  return name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name;
}
