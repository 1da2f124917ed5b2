/** The few pages the gateway writes itself: plain HTML without script, for the moments when the built UI cannot speak. */

const escape = (text: string) =>
  text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escape(title)}</title></head><body><main><h1>${escape(title)}</h1>
${body}
</main></body></html>
`;
}

const FORM = `<form method="post" action="/login">
<p><label>Or paste a code: <input name="code" autocomplete="off" required></label> <button>Sign in</button></p></form>`;

/** Asks for a code, and says what was wrong with the last one. */
export function loginPage(problem?: "used" | "expired" | "unknown" | "busy"): string {
  const said = {
    used: "<p><strong>This link was already used.</strong> Each link signs in once.</p>",
    expired: "<p><strong>This link is too old.</strong> A link is good for ten minutes.</p>",
    unknown: "<p><strong>This code is not known.</strong></p>",
    busy: "<p><strong>Too many wrong codes.</strong> Wait a minute.</p>",
  };
  return page(
    "Sign in to Lares",
    `${problem ? said[problem] : ""}<p>Run <code>lares dashboard</code> in a terminal on this machine and open the link it prints.</p>${FORM}`,
  );
}

export function notBuiltPage(signedIn: boolean): string {
  return page(
    "Lares is running",
    `<p>The web page is not built yet. Build it with <code>npm run build:ui</code>, or talk here: <code>lares chat</code>.</p>
${signedIn ? "<p>You are signed in.</p>" : `<p>To sign in, run <code>lares dashboard</code> and open the link it prints.</p>${FORM}`}`,
  );
}
