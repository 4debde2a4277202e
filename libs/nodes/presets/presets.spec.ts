import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PresetDefinition } from '@cdui/protocol';
import { builtinNodes } from '../builtin-nodes';
import { createNodeRegistry } from '../registry';
import { builtinPresets, createPresetRegistry, loadPresetFolder } from './index';

const nodes = createNodeRegistry(builtinNodes);

describe('createPresetRegistry', () => {
  it('has the built-in presets that the nodes allow', () => {
    const warnings: string[] = [];
    const registry = createPresetRegistry(builtinPresets, nodes, (text) => warnings.push(text));
    expect(registry.names()).toEqual(['Simple CNN Classifier', 'Training Pipeline']);
    expect(warnings).toEqual([]);
  });

  it('fills in port types and param definitions, with the value of the preset as default', () => {
    const pipeline = createPresetRegistry(builtinPresets, nodes, () => undefined).get('Training Pipeline');
    expect(pipeline?.exposed_inputs.map(({ name, data_type }) => [name, data_type])).toEqual([
      ['model', 'MODEL'],
      ['model_for_opt', 'MODEL'],
    ]);
    expect(pipeline?.exposed_outputs.map(({ name, data_type }) => [name, data_type])).toEqual([
      ['model', 'MODEL'],
      ['losses', 'TENSOR'],
    ]);
    const device = pipeline?.exposed_params.find(({ param_name }) => param_name === 'device')?.param_def;
    expect(device).toMatchObject({ name: 'device', param_type: 'select', default: 'cpu' });
    expect(pipeline?.exposed_params.every(({ param_def }) => param_def !== null)).toBe(true);
  });

  it('takes presets that hold presets, and none that holds a subgraph block', () => {
    const outer = (type: string): PresetDefinition => ({
      preset_name: type,
      nodes: [{ id: 'in', type }],
      edges: [],
      exposed_inputs: [{ name: 'x', internal_node: 'in', internal_port: 'tensor' }],
      exposed_outputs: [{ name: 'y', internal_node: 'in', internal_port: 'tensor' }],
      exposed_params: [],
    });
    const warnings: string[] = [];
    const presets = [...builtinPresets, outer('preset:Simple CNN Classifier'), outer('subgraph:x')];
    const registry = createPresetRegistry(presets, nodes, (text) => warnings.push(text));
    expect(registry.get('preset:Simple CNN Classifier')?.exposed_inputs).toMatchObject([{ data_type: 'ANY' }]);
    expect(warnings).toEqual(['Preset "subgraph:x" is left out: there is no node type subgraph:x']);
  });

  it('names every port and param of the built-in presets rightly', () => {
    for (const preset of builtinPresets) {
      const type = (id: string) => nodes.get(preset.nodes.find((node) => node.id === id)?.type ?? '')?.definition;
      const has = (ports: readonly { name: string }[] | undefined, name: string) =>
        ports?.some((port) => port.name === name);
      for (const edge of preset.edges) {
        expect([edge, has(type(edge.source)?.outputs, edge.sourceHandle)]).toEqual([edge, true]);
        expect([edge, has(type(edge.target)?.inputs, edge.targetHandle)]).toEqual([edge, true]);
      }
      for (const port of preset.exposed_inputs)
        expect(has(type(port.internal_node)?.inputs, port.internal_port)).toBe(true);
      for (const port of preset.exposed_outputs)
        expect(has(type(port.internal_node)?.outputs, port.internal_port)).toBe(true);
      for (const node of preset.nodes) {
        for (const param of Object.keys(node.params ?? {})) expect(has(type(node.id)?.params, param)).toBe(true);
      }
    }
  });

  it('types what it cannot resolve as ANY, and what the params decide by them', () => {
    const preset: PresetDefinition = {
      preset_name: 'Odd',
      nodes: [{ id: 's', type: 'Split', params: { chunks: 4 } }],
      edges: [],
      exposed_inputs: [{ name: 'a', internal_node: 's', internal_port: 'nothing' }],
      exposed_outputs: [{ name: 'b', internal_node: 's', internal_port: 'chunk_3' }],
      exposed_params: [{ internal_node: 's', param_name: 'nothing' }],
    };
    const warnings: string[] = [];
    const registry = createPresetRegistry([preset, preset], nodes, (text) => warnings.push(text));
    expect(registry.get('Odd')).toMatchObject({
      exposed_inputs: [{ data_type: 'ANY' }],
      exposed_outputs: [{ data_type: 'TENSOR' }],
      exposed_params: [{ param_def: null }],
    });
    expect(warnings).toEqual([expect.stringContaining('second preset "Odd"')]);
  });
});

describe('loadPresetFolder', () => {
  it('loads what is right and reports the rest', () => {
    const folder = mkdtempSync(join(tmpdir(), 'cdui-presets-'));
    try {
      const good = builtinPresets[1];
      writeFileSync(join(folder, 'b_good.json'), JSON.stringify(good));
      writeFileSync(join(folder, 'a_text.json'), 'not JSON');
      writeFileSync(join(folder, 'c_list.json'), '[]');
      writeFileSync(join(folder, 'd_part.json'), JSON.stringify({ ...good, edges: [{ source: 'a' }] }));
      writeFileSync(join(folder, 'e_name.json'), JSON.stringify({ ...good, preset_name: '' }));
      writeFileSync(join(folder, 'f_nodes.json'), JSON.stringify({ ...good, nodes: {} }));
      execFileSync('mkfifo', [join(folder, 'g_pipe.json')]);
      writeFileSync(join(folder, 'readme.txt'), 'text');
      const warnings: string[] = [];
      expect(loadPresetFolder(folder, (text) => warnings.push(text))).toEqual([good]);
      expect(warnings).toEqual([
        expect.stringMatching(/a_text\.json is left out: .*JSON/),
        expect.stringMatching(/c_list\.json .*one JSON object/),
        expect.stringMatching(/d_part\.json .*each item of "edges" needs the text "sourceHandle"/),
        expect.stringMatching(/e_name\.json .*"preset_name" must be a text/),
        expect.stringMatching(/f_nodes\.json .*"nodes" must be a list/),
        expect.stringMatching(/g_pipe\.json .*it is no file/),
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('takes a missing folder for an empty one', () => {
    expect(loadPresetFolder(join(tmpdir(), 'cdui-no-such-folder'), () => undefined)).toEqual([]);
  });
});
