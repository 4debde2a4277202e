/** Deeper than any graph file; far less than what exhausts the stack of code that walks a value. */
export const MAX_JSON_DEPTH = 200;

/** Text from outside that is not taken as JSON. The message goes on from "The body" or the like. */
export class JsonRefusal extends Error {
  constructor(
    message: string,
    readonly type: 'json_invalid' | 'json_too_deep' | 'json_prototype',
  ) {
    super(message);
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads JSON from outside, without what no part of the program should have to think about: invalid UTF-8, nesting that no recursion
 * survives, members that would change what an object is.
 * @throws JsonRefusal
 */
export function parseJson(bytes: Uint8Array): unknown {
  // Before parsing: what is built for a body of brackets alone takes many times its size.
  if (depthExceeds(bytes, MAX_JSON_DEPTH)) {
    throw new JsonRefusal(`is nested deeper than ${MAX_JSON_DEPTH} levels`, 'json_too_deep');
  }
  let text: string;
  let value: unknown;
  try {
    text = decoder.decode(bytes);
    value = JSON.parse(text);
  } catch (error) {
    throw new JsonRefusal(`is not JSON in UTF-8: ${(error as Error).message}`, 'json_invalid');
  }
  if (/__proto__|\\u005f/i.test(text) && namesPrototype(value)) {
    throw new JsonRefusal('has a member "__proto__", which nothing here is called', 'json_prototype');
  }
  return value;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Whether lists and objects are nested deeper in JSON text, be it well formed or not. */
export function depthExceeds(json: Uint8Array, limit: number): boolean {
  let depth = 0;
  for (let index = 0; index < json.length; index++) {
    const byte = json[index]!;
    if (byte === QUOTE) {
      index = endOfText(json, index);
      continue;
    }
    // "[" and "{", "]" and "}" differ in one bit.
    const bracket = byte | 0x20;
    if (bracket === 0x7b) {
      if (++depth > limit) return true;
    } else if (bracket === 0x7d) depth--;
  }
  return false;
}

/** Where the text that begins with the quote at `from` has its last one. */
function endOfText(json: Uint8Array, from: number): number {
  let index = from + 1;
  for (; index < json.length && json[index] !== QUOTE; index++) if (json[index] === BACKSLASH) index++;
  return index;
}

/** Whether an object says what its prototype is: copied member by member into another, it would become that one's. */
function namesPrototype(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(namesPrototype);
}
