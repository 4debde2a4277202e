import { isAbsolute, resolve } from 'node:path';
import { defineNode, param } from '@cdui/node-sdk';
import type { GraphValueType } from './graph-value';
import { checkGiven, GRAPH_VALUE_TYPES, imageFromBase64, imageFromFile, parseDefault } from './graph-value';

// The caller's value arrives as a param that no definition lists.
const GIVEN = 'value';

export const graphInput = defineNode({
  name: 'GraphInput',
  category: 'IO',
  description: 'Receives one value from whoever runs the graph as a function; other runs take its default.',
  outputs: { value: 'ANY' },
  params: {
    name: param.text('input', { description: 'Name of the argument' }),
    type: param.select('string', GRAPH_VALUE_TYPES, { description: 'Kind of value' }),
    required: param.bool(true, { description: 'Whether the caller must give it' }),
    default: param.text('', { description: 'Value when none is given; a file in the image folder for an image' }),
    description: param.text('', { description: 'For whoever calls the graph' }),
  },
  files(params, folders) {
    const path = params['default'];
    if (params['type'] !== 'image' || params[GIVEN] !== undefined || typeof path !== 'string' || path === '') return [];
    return [isAbsolute(path) ? path : resolve(folders.images, path)];
  },
  execute(context, _inputs, params) {
    const type = params.choice<GraphValueType>('type');
    const given = params.raw(GIVEN);
    // Null is a value in JSON only.
    const isGiven = given !== undefined && (given !== null || type === 'json');
    if (type === 'image') {
      if (!isGiven && params.text('default').trim() === '') {
        return params.reject('default', 'must name an image file when the caller gives no image');
      }
      const image = isGiven ? imageFromBase64(given, params) : imageFromFile(context.folders.images, params);
      return { value: context.scope.upload(image) };
    }
    const value = isGiven ? checkGiven(type, given, params) : parseDefault(type, params.text('default'), params);
    if (value === null && !isGiven && params.bool('required')) {
      return params.reject('default', 'must hold a value when the caller gives none');
    }
    return { value };
  },
});
