/** What memory answers, until the registry has its methods: memory.add, search, list and forget. */

export interface Fact {
  id: string;
  text: string;
  kind?: string;
  source?: string;
  at?: number | string;
  score?: number;
}
