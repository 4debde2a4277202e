import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { CatalogClient } from '../../catalog-thread/catalog.client';

/** The node types of this server, to compare workers with. */
@Injectable()
export class ServerNodeTypes implements OnApplicationBootstrap {
  /** Type -> sha256 of its definition. Another object when they changed. */
  hashes: Readonly<Record<string, string>> = {};

  constructor(private readonly catalog: CatalogClient) {
    catalog.onReload(() => void this.refresh());
  }

  onApplicationBootstrap(): Promise<void> {
    return this.refresh();
  }

  private async refresh(): Promise<void> {
    this.hashes = (await this.catalog.call('catalogue')).nodeTypeHashes;
  }
}
