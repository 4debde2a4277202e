import { catalogView, presetSecrets, scrubSecrets } from '@cdui/engine';
import type { NodeRegistry, PresetRegistry } from '@cdui/node-sdk';
import type { GraphFile } from '@cdui/protocol';

/**
 * Every secret of the file, drafts and unused presets included: error texts about the file itself may quote them. Those of installed presets
 * too, because a Map may run any of them.
 */
export function secretsIn(
  graph: GraphFile,
  { registry, presets }: { readonly registry: NodeRegistry; readonly presets: PresetRegistry },
): readonly string[] {
  const catalog = catalogView(registry, presets);
  const { secrets } = scrubSecrets(graph, catalog);
  const inFile = secrets.flatMap(({ value }) => (typeof value === 'string' ? [value] : []));
  return [...inFile, ...presetSecrets(presets, catalog)];
}
