import type { GraphFile, GraphIssue, SubmissionOptions } from '@cdui/protocol';
import { CodedError } from '@cdui/protocol';
import type { CatalogClient } from '../../catalog-thread/catalog.client';
import { wantedFor } from '../../catalog-thread/messages';
import { shapeError } from '../../system/json-body';
import type { GraphDesk, PreparedGraph, ReadSubmission } from '../world';

/** Problems that the message itself tells; `issues` has all of them. */
const TOLD = 3;

/** Asks the catalogue's thread: this one never runs node code. */
export class CatalogDesk implements GraphDesk {
  constructor(private readonly catalog: CatalogClient) {}

  async prepare(graph: GraphFile, options: SubmissionOptions): Promise<PreparedGraph> {
    const text = JSON.stringify(graph);
    const { issues, scrubbed, provenance, nodeTypes } = await this.catalog.call('prepare', text, wantedFor(options));
    if (issues.length > 0) throw refused(issues);
    return {
      text: scrubbed ?? text,
      hadSecrets: scrubbed !== null,
      provenance: provenance?.map((record) => ({ ...record })) ?? null,
      nodeTypes,
    };
  }

  async read(body: Uint8Array): Promise<ReadSubmission> {
    const answer = await this.catalog.readSubmission(body);
    switch (answer.outcome) {
      case 'unreadable':
        throw shapeError(answer);
      case 'misformed':
        throw new CodedError(answer.code, answer.message, answer.params);
      case 'cannot_run':
        throw refused(answer.issues);
      case 'accepted': {
        const { name, options, settings, graph, secret, provenance, nodeTypes } = answer;
        return {
          ...{ name, options, settings, text: graph, whole: secret ?? graph, hadSecrets: secret !== null },
          provenance: provenance?.map((record) => ({ ...record })) ?? null,
          nodeTypes,
        };
      }
    }
  }
}

function refused(issues: readonly GraphIssue[]): CodedError {
  const told = issues.slice(0, TOLD).map(({ message }) => message);
  const more = issues.length > TOLD ? `; and ${issues.length - TOLD} more problems` : '';
  return new CodedError('invalid_graph', `The graph cannot run: ${told.join('; ')}${more}`, { issues });
}
