import { Injectable } from '@nestjs/common';
import { CodedError, type ValidationResult } from '@cdui/protocol';
import { CatalogClient } from '../catalog-thread/catalog.client';
import { GraphFolder } from './graph-folder';
import type { GraphRequest, RenameRequest } from './graph-requests';
import type { SavedGraph } from './named-files';

/** Saved graphs: whole, durable, and without secrets. */
@Injectable()
export class GraphsService {
  constructor(
    private readonly folder: GraphFolder,
    private readonly catalog: CatalogClient,
  ) {}

  validate({ graph }: GraphRequest): Promise<ValidationResult> {
    return this.catalog.call('validate', graph);
  }

  /** Drafts may be saved: a graph need not be valid, but it must be one. */
  async save({ graph, name, overwrite }: GraphRequest): Promise<SavedGraph> {
    const called = name ?? graph['name'];
    if (typeof called !== 'string') {
      throw new CodedError('invalid_body', 'name must be given, beside the graph or in it', { field: 'name' });
    }
    const blank = await this.catalog.call('blankSecrets', graph);
    return this.folder.save(called, blank, overwrite);
  }

  rename({ from, to, overwrite }: RenameRequest): Promise<SavedGraph> {
    return this.folder.rename(from, to, overwrite);
  }
}
