import type { NodeType } from '@cdui/node-sdk';
import { csvReaderNode } from './csv-reader';
import { dataLoaderNode } from './data-loader';
import { datasetNode } from './dataset';
import { datasetBatchNode } from './dataset-batch';
import { tensorDatasetNode } from './tensor-dataset';
import { transformNode } from './transform';

/** Data sets, loaders and tables. */
export const dataNodes: readonly NodeType[] = [
  csvReaderNode,
  dataLoaderNode,
  datasetNode,
  datasetBatchNode,
  tensorDatasetNode,
  transformNode,
];
