import type { ModuleSpec } from '@cdui/tensor/runtime';

/** A module's parts, one on a line, as PyTorch prints them: `(id): Layer(param=value, ...)`. At most so many characters. */
export function moduleText(spec: ModuleSpec, maxLength: number): string {
  const [only, ...rest] = spec.nodes;
  if (only && rest.length === 0 && 'layer' in only) return cut(call(only.layer, only.params), maxLength);
  const lines = ['SequentialModel('];
  let length = 0;
  // No more than what is shown: a network may have thousands of layers.
  for (const line of linesOf(spec, '  ')) {
    if (length > maxLength) break;
    lines.push(line);
    length += line.length + 1;
  }
  return cut([...lines, ')'].join('\n'), maxLength);
}

function* linesOf(spec: ModuleSpec, indent: string): Generator<string> {
  for (const node of spec.nodes) {
    if ('module' in node) {
      yield `${indent}(${node.id}): Module(`;
      yield* linesOf(node.module, `${indent}  `);
      yield `${indent})`;
    } else {
      const text = 'layer' in node ? call(node.layer, node.params) : call(node.op, node.attrs);
      yield `${indent}(${node.id}): ${text}`;
    }
  }
}

function call(name: string, members: unknown): string {
  const parts = Object.entries({ ...(members as object) }).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return `${name}(${parts.join(', ')})`;
}

function cut(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength - 3)}...` : text;
}
