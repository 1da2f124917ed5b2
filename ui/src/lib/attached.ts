/** What the gateway says about a file it took. */
export interface Attached {
  id: string;
  name: string;
  mediaType: string;
  bytes: number;
  kind: "image" | "text" | "file";
}
