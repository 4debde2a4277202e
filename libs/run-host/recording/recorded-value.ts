import type { CapturedPort, Redactor } from '@cdui/engine';
import { describeValue, isList, isModel, isRecord } from '@cdui/node-sdk';
import type { PortValue } from '@cdui/node-sdk';
import { MAX_RECORDED_ITEMS, MAX_RECORDED_TEXT } from '@cdui/outputs';
import type { RecordedValue } from '@cdui/outputs';
import { moduleText } from './module-text';

/** What is kept of a port that carries no tensor; null for one that does. */
export function recordedValue(
  nodeId: string,
  { facts, value }: CapturedPort,
  redactor: Redactor,
): RecordedValue | null {
  const place = { node_id: nodeId, port: facts.port };
  switch (facts.kind) {
    case 'tensor':
    case 'gradient':
      return null;
    case 'model': {
      const { class: name, params, trainable } = facts;
      const repr = isModel(value) ? redactor.text(moduleText(value.spec, MAX_RECORDED_TEXT)) : name;
      return { ...place, type: 'model', class: name, params, trainable, repr };
    }
    case 'scalar':
      return { ...place, type: 'scalar', value: facts.value };
    case 'string':
      return { ...place, type: 'string', value: facts.value.slice(0, MAX_RECORDED_TEXT), length: facts.value.length };
    case 'list': {
      const values = facts.values ?? plainItems(value, redactor);
      return { ...place, type: 'list', length: facts.length, repr: facts.repr, ...(values && { values }) };
    }
    case 'steps':
      return { ...place, type: 'steps', steps: facts.steps };
    case 'other':
      return { ...place, type: 'other', class: facts.type, repr: recordText(value, redactor) ?? facts.repr };
  }
}

/** A plain object as JSON, with the runtime's values in it in words; null for anything else. */
function recordText(value: PortValue | undefined, redactor: Redactor): string | null {
  if (!isRecord(value)) return null;
  const text = JSON.stringify(value, (_key, item: PortValue) =>
    typeof item === 'object' && item !== null && !isList(item) && !isRecord(item) ? describeValue(item) : item,
  );
  return redactor.text(text).slice(0, MAX_RECORDED_TEXT);
}

/** Items of a list that is longer than an event shows and still short enough to be kept; plain ones and pairs of numbers only. */
function plainItems(value: PortValue | undefined, redactor: Redactor): readonly unknown[] | null {
  if (!isList(value) || value.length > MAX_RECORDED_ITEMS) return null;
  const plain = (item: PortValue): boolean => item === null || typeof item !== 'object';
  const pair = (item: PortValue): boolean =>
    isList(item) && item.length === 2 && item.every((part) => typeof part === 'number');
  return value.every((item) => plain(item) || pair(item)) ? redactor.data(value) : null;
}
