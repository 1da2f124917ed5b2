import { expect, test } from "vitest";
import { htmlLines } from "./html.ts";

test("blocks become lines; scripts, styles and what is hidden do not", () => {
  const html = `<!doctype html><title>T</title><style>p{}</style><nav><p>menu</p></nav><h2 class="a">Trips &amp; <b>more</b></h2>
    <script>if (a < b) document.write("<p>no</p>")</script><p>one<br>two<p>three <!-- <p>no</p> --> four</p>
    <div hidden><div>no</div><p>no</p></div><ul><li>item</li></ul><svg><p>no</p></svg>`;
  expect(htmlLines(html)).toEqual([
    { text: "Trips & more", isHeading: true },
    { text: "one two", isHeading: false },
    { text: "three four", isHeading: false },
    { text: "item", isHeading: false },
  ]);
});

test("a page without blocks is one line, and what never closes ends with the page", () => {
  expect(htmlLines("<div>a &lt; b</div> c < d")).toEqual([{ text: "a < b c < d", isHeading: false }]);
  expect(htmlLines("<p>a<script>b")).toEqual([{ text: "a", isHeading: false }]);
  expect(htmlLines("<p>a</p><p <p <p")).toEqual([{ text: "a", isHeading: false }]);
});
