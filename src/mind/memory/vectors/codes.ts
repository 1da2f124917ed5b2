/**
 * The vectors in memory: one bit a dimension, so that 100,000 memories take 5 MB. The nearest by bits are compared exactly with
 * the bytes from the rows.
 */

/** A vector of length 1 as signed bytes, the greatest part at 127. A quarter of the size, and the order of results stays. */
export function toBytes(vector: Float32Array): Uint8Array {
  let most = 1e-12;
  for (const part of vector) most = Math.max(most, Math.abs(part));
  const bytes = new Int8Array(vector.length);
  for (let i = 0; i < vector.length; i++) bytes[i] = Math.round((vector[i]! / most) * 127);
  return new Uint8Array(bytes.buffer);
}

/** Cosine of a vector of length 1 and stored bytes. */
export function cosine(vector: Float32Array, bytes: Uint8Array): number {
  const parts = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  if (parts.length !== vector.length) return 0;
  let dot = 0;
  let square = 0;
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!;
    dot += vector[i]! * part;
    square += part * part;
  }
  return square === 0 ? 0 : dot / Math.sqrt(square);
}

/** Below it, looking at all the bits of all takes less than a millisecond. */
const LARGE = 20_000;

export class Codes {
  private readonly width: number;
  private bits = new Int32Array(0);
  private present = new Uint8Array(0);
  private top = 0;
  private kept = 0;

  constructor(dims: number) {
    this.width = Math.ceil(dims / 32);
  }

  get count(): number {
    return this.kept;
  }

  put(seq: number, bytes: Uint8Array): void {
    this.grow(seq + 1);
    if (!this.present[seq]) this.kept++;
    this.present[seq] = 1;
    this.top = Math.max(this.top, seq);
    this.write(new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length), this.bits, seq * this.width);
  }

  has(seq: number): boolean {
    return this.present[seq] === 1;
  }

  drop(seq: number): void {
    if (!this.present[seq]) return;
    this.present[seq] = 0;
    this.bits.fill(0, seq * this.width, (seq + 1) * this.width);
    this.kept--;
  }

  /** The `most` visible ones that differ in the fewest bits. */
  nearest(vector: Float32Array, visible: (seq: number) => boolean, most: number): number[] {
    const wanted = new Int32Array(this.width);
    this.write(vector, wanted, 0);
    let among = new Int32Array(this.kept);
    let count = 0;
    for (let seq = 1; seq <= this.top; seq++) if (this.present[seq] === 1 && visible(seq)) among[count++] = seq;
    among = among.subarray(0, count);
    // A third of the bits tells which ones are worth looking at whole: what is near is near in them too.
    if (among.length > LARGE)
      among = this.closest(among, wanted, Math.ceil(this.width / 3), Math.ceil(among.length / 20));
    return [...this.closest(among, wanted, this.width, most)];
  }

  /** About `most` of these, by the first `words` words of their code. */
  private closest(among: Int32Array, wanted: Int32Array, words: number, most: number): Int32Array<ArrayBuffer> {
    const { width, bits } = this;
    // Int32Array throughout: unsigned 32-bit values are floating point numbers to the engine.
    const perDistance = new Int32Array(words * 32 + 1);
    const far = new Uint16Array(among.length);
    for (let n = 0; n < among.length; n++) {
      const from = among[n]! * width;
      let distance = 0;
      for (let w = 0; w < words; w++) distance += ones(bits[from + w]! ^ wanted[w]!);
      far[n] = distance;
      perDistance[distance]!++;
    }
    let limit = 0;
    for (let sum = 0; limit < perDistance.length; limit++) {
      sum += perDistance[limit]!;
      if (sum >= most) break;
    }
    const found = new Int32Array(most * 2);
    let count = 0;
    for (let n = 0; n < among.length && count < found.length; n++) if (far[n]! <= limit) found[count++] = among[n]!;
    return found.subarray(0, count);
  }

  private write(parts: Float32Array | Int8Array, into: Int32Array, at: number): void {
    into.fill(0, at, at + this.width);
    for (let i = 0; i < parts.length && i < this.width * 32; i++)
      if (parts[i]! > 0) into[at + (i >>> 5)]! |= 1 << (i & 31);
  }

  private grow(size: number): void {
    if (size <= this.present.length) return;
    const capacity = Math.max(1024, size, Math.ceil(this.present.length * 1.5));
    const present = new Uint8Array(capacity);
    present.set(this.present);
    const bits = new Int32Array(capacity * this.width);
    bits.set(this.bits);
    this.present = present;
    this.bits = bits;
  }
}

function ones(bits: number): number {
  let n = bits - ((bits >>> 1) & 0x55555555);
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333);
  return Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
