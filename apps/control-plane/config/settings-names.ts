/** An origin as browsers send it: without a slash behind it and without the port that its scheme has anyway; null when the text is none. */
export function originIn(text: string): string | null {
  if (!/^https?:\/\/[^/?#@\s*]+\/?$/i.test(text) || !URL.canParse(text)) return null;
  return new URL(text).origin;
}

/** A value of the `Host` header, `host` or `host:port`, in lower case; null when the text is none, such as one with a scheme. */
export function hostIn(text: string): string | null {
  const form = /^(?:[^\s/?#@*:[\]]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i.exec(text);
  if (form === null || Number(form[1] ?? 1) > 65_535 || Number(form[1] ?? 1) === 0) return null;
  return text.toLowerCase();
}
