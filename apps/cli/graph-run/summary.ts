/** Longer descriptions are cut, so that one output stays one line. */
const LINE = 120;

/** A value that a port carries, on one line: `Tensor[2, 3] float32 mean 0.5`, `Model(421,642 params)`, `0.98`. */
export function describeSummary(summary: Readonly<Record<string, unknown>>): string {
  const { type } = summary;
  switch (type) {
    case 'tensor':
      return describeTensor(summary);
    case 'model':
      return `Model(${count(summary['params'])} params)`;
    case 'scalar':
      return String(summary['value']);
    case 'string':
      return describeText(summary['value']);
    case 'list':
      return `List(${count(summary['length'])}) ${cut(String(summary['repr'] ?? ''))}`.trimEnd();
    case 'steps':
      return `${Array.isArray(summary['steps']) ? summary['steps'].length : 0} steps`;
    default:
      return cut(String(summary['repr'] ?? type ?? ''));
  }
}

function describeTensor({ shape, dtype, min, max, mean, values }: Readonly<Record<string, unknown>>): string {
  const dims = Array.isArray(shape) ? shape : [];
  const head = `Tensor[${dims.join(', ')}] ${String(dtype)}`;
  if (dims.every((size) => size === 1) && Array.isArray(values) && values.length === 1)
    return `${head} ${short(values[0])}`;
  const facts = [
    ['mean', mean],
    ['min', min],
    ['max', max],
  ].flatMap(([name, value]) => (typeof value === 'number' ? [`${name} ${short(value)}`] : []));
  return [head, ...facts].join(' ');
}

function describeText(value: unknown): string {
  const text = String(value);
  const line = text.split('\n')[0] ?? '';
  return text.length > 80 || line !== text
    ? `Text(${text.length} characters) ${JSON.stringify(`${line.slice(0, 60)}...`)}`
    : JSON.stringify(text);
}

function count(value: unknown): string {
  return typeof value === 'number' ? value.toLocaleString('en-US') : '?';
}

/** Four significant digits; large numbers whole with one decimal, very small and very large ones with an exponent. */
export function short(value: unknown): string {
  if (typeof value !== 'number') return String(value);
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e15) return String(value);
  if (size < 1e-4 || size >= 1e7) return value.toExponential(2);
  return String(Number(size >= 1000 ? value.toFixed(1) : value.toPrecision(4)));
}

function cut(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > LINE ? `${line.slice(0, LINE - 3)}...` : line;
}

/** Seconds for people: `0.4 s`, `12 s`, `2 min 05 s`, `1 h 02 min`. */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds < 0) return '?';
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${String(whole % 60).padStart(2, '0')} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}
