import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join, resolve } from 'node:path';
import { compileFunction } from 'node:vm';
import type * as Sucrase from 'sucrase';
import { readText } from '../read-text';

/** File extensions of custom node modules, and the order in which an import without extension tries them. */
export const MODULE_EXTENSIONS = ['.js', '.cjs', '.mjs', '.ts'] as const;

// Loaded with the first module: most runs have no custom nodes, and the compiler takes longer to load than everything else here.
const requireHere = createRequire(__filename);

/** What went wrong with a file, and where if that is known. */
export interface ModuleProblem {
  readonly message: string;
  readonly line?: number;
}

/**
 * Loads modules of one folder afresh: CommonJS, ES modules and TypeScript alike. Sources are compiled here instead of by Node's own
 * loaders because those keep every version of a module for ever, so that each reload would leak the one before. Relative imports are
 * loaded the same way, once per loader; everything else comes from Node as seen from the importing file.
 */
export class ModuleLoader {
  private readonly loaded = new Map<string, { exports: unknown }>();

  /** The exports of a file. Throws whatever the file throws, or a SyntaxError. */
  load(file: string): unknown {
    const known = this.loaded.get(file);
    if (known) return known.exports;
    const module: { exports: unknown } = { exports: {} };
    this.loaded.set(file, module);
    try {
      const run = compileFunction(commonJs(file), ['module', 'exports', 'require', '__filename', '__dirname'], {
        filename: file,
      });
      run.call(module.exports, module, module.exports, this.requireFrom(file), file, dirname(file));
    } catch (error) {
      this.loaded.delete(file);
      throw error;
    }
    return module.exports;
  }

  private requireFrom(file: string): (id: string) => unknown {
    const fromNode = createRequire(file);
    return (id) => {
      if (!id.startsWith('./') && !id.startsWith('../')) return fromNode(id) as unknown;
      const target = resolveRelative(dirname(file), id);
      return target === null ? fromNode(id) : this.load(target);
    };
  }
}

/** A thrown value as a problem of `file`. */
export function problemOf(error: unknown, file: string): ModuleProblem {
  // Errors of compiled code may come from another realm, where instanceof does not know them.
  const { message, stack, loc } = Object(error) as { message?: unknown; stack?: unknown; loc?: { line?: unknown } };
  const text = typeof message === 'string' && message !== '' ? message : String(error);
  // The compiler names the file, which may be a helper of this one; then its line says nothing about this one.
  const compiler = `Error transforming ${file}: `;
  const compiled = typeof loc?.line === 'number';
  const line = !compiled ? lineOf(String(stack ?? ''), file) : text.startsWith(compiler) ? (loc.line as number) : null;
  return { message: text.replace(compiler, ''), ...(line !== null && { line }) };
}

function commonJs(file: string): string {
  const { transform } = requireHere('sucrase') as typeof Sucrase;
  const transforms: Sucrase.Transform[] = extname(file) === '.ts' ? ['typescript', 'imports'] : ['imports'];
  // Keeps every line where it is, so that error positions need no source map. A dynamic import becomes a require as well.
  return transform(readText(file), { transforms, filePath: file }).code;
}

function resolveRelative(folder: string, id: string): string | null {
  const base = resolve(folder, id);
  const candidates = [
    base,
    ...MODULE_EXTENSIONS.map((extension) => base + extension),
    ...MODULE_EXTENSIONS.map((extension) => join(base, `index${extension}`)),
  ];
  const isModule = (path: string): boolean => MODULE_EXTENSIONS.some((extension) => path.endsWith(extension));
  return candidates.find((path) => isModule(path) && existsSync(path)) ?? null;
}

function lineOf(stack: string, file: string): number | null {
  const start = stack.indexOf(`${file}:`);
  const line = start < 0 ? NaN : parseInt(stack.slice(start + file.length + 1), 10);
  return Number.isNaN(line) ? null : line;
}
