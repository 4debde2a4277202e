import { writeFileSync } from 'node:fs';
import { MachineFingerprint } from '@cdui/host/fingerprint';
import { builtinNodes, catalogueOf, CustomNodeFolder } from '@cdui/nodes';
import { loadProviders } from '@cdui/run-host/providers';
import { ANSWER_FD, type CatalogAnswer, type CatalogQuestion } from './answer';

/*
 * A process that lives for an instant: it loads the node files as a run does, so that whatever they do is not done in the agent, answers, and ends,
 * whatever timers they have set.
 */

const { customNodes } = JSON.parse(process.argv[2]!) as CatalogQuestion;
const { registry, problems } = new CustomNodeFolder({ folder: customNodes, builtins: builtinNodes }).snapshot();
const { catalogHash, nodeTypeHashes } = catalogueOf(registry);
const { devices } = loadProviders(process.env);
const answer: CatalogAnswer = {
  catalog_hash: catalogHash,
  node_type_hashes: nodeTypeHashes,
  fingerprint: new MachineFingerprint({ customNodes, devices }).document(null),
  served: devices,
  problems: problems.map(({ file, message }) => `Custom node file ${file} cannot be used: ${message}`),
};
writeFileSync(ANSWER_FD, JSON.stringify(answer));
process.exit(0);
