import { basename, join } from 'node:path';
import { Controller, Get, Inject, Param, Query, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiProduces, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import type { EventStore, StoredArtifact } from '@cdui/execution';
import { type ArtifactView, CodedError, type RunArtifacts } from '@cdui/protocol';
import type { Request, Response } from 'express';
import { SessionToken, TOKEN_HEADER } from '../auth/session-token';
import { SETTINGS, type Settings } from '../config/settings';
import { GuardErrorDto, NOT_FOUND, Refuses, SHAPE } from '../openapi/errors.dto';
import { RunIdParam } from '../openapi/params';
import { Runs } from '../runs/runs';
import { confinedFile } from '../system/confined-path';
import { EVENT_STORE } from '../tokens';
import { ArtifactsQuery } from './queries';
import { RunArtifactsDto } from './run-parts.dto';

@ApiTags('runs')
@Controller('runs')
export class ArtifactsController {
  constructor(
    private readonly runs: Runs,
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly session: SessionToken,
  ) {}

  @Get(':id/artifacts')
  @ApiOperation({ summary: 'The files that a run left' })
  @RunIdParam()
  @ApiOkResponse({ type: RunArtifactsDto })
  @Refuses(NOT_FOUND, SHAPE)
  async list(@Param('id') id: string, @Query() { kind }: ArtifactsQuery): Promise<RunArtifacts> {
    await this.runs.state(id);
    return { run_id: id, artifacts: (await this.store.artifacts(id, kind)).map(view) };
  }

  @Get(':id/artifacts/:artifactId/download')
  @ApiOperation({
    summary: 'Download one of them',
    description: 'Wants the session token, in its header or as the query parameter `token`. `Range` works.',
  })
  @RunIdParam()
  @ApiParam({ name: 'artifactId', schema: { type: 'string' } })
  @ApiSecurity('session')
  @ApiProduces('application/octet-stream')
  @ApiOkResponse({ schema: { type: 'string', format: 'binary' } })
  @ApiResponse({ status: 206, description: 'The part that `Range` asks for' })
  @ApiResponse({ status: 403, description: 'Without the session token', type: GuardErrorDto })
  @Refuses(NOT_FOUND)
  async download(
    @Param('id') id: string,
    @Param('artifactId') artifactId: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    if (!this.session.matches(request.headers[TOKEN_HEADER]) && !this.session.matches(request.query['token'])) {
      response.status(403).json({ detail: 'Missing or invalid X-CodefyUI-Token header' });
      return;
    }
    await this.runs.state(id);
    const artifact = (await this.store.artifacts(id)).find((candidate) => candidate.id === artifactId);
    if (!artifact) {
      throw new CodedError('artifact_not_found', `Run ${id} has no artifact "${artifactId}": list them first`, {
        run_id: id,
        artifact_id: artifactId,
      });
    }
    await this.send(id, artifact, response);
  }

  private async send(id: string, { path, id: artifactId }: StoredArtifact, response: Response): Promise<void> {
    const file = await confinedFile(path, this.folders());
    if (file === null) {
      throw new CodedError('artifact_gone', `${path} is no longer a file in the folders that runs write to`, {
        run_id: id,
        artifact_id: artifactId,
        path,
      });
    }
    // Never shown as a page of this server: what a run wrote may be a page with a program in it.
    response.attachment(basename(file)).type('application/octet-stream');
    await new Promise<void>((resolve, reject) => {
      response.sendFile(file, { dotfiles: 'allow', cacheControl: false }, (error?: SendError) => {
        // A client that went away in the middle has nobody to be told.
        if (!error || response.headersSent || response.destroyed) resolve();
        else if (error.status === undefined || error.status >= 500) reject(error);
        else {
          // A range or a condition that cannot be met.
          response
            .status(error.status)
            .set(error.headers ?? {})
            .end();
          resolve();
        }
      });
    });
  }

  /** Where runs write what may be handed out. The data folder as a whole is not: the database lies in it. */
  private folders(): readonly string[] {
    const { modelsDir, imagesDir, dataFilesDir, userDataDir } = this.settings;
    return [
      modelsDir,
      imagesDir,
      dataFilesDir,
      join(userDataDir, 'data', 'output'),
      join(userDataDir, 'data', 'outputs'),
    ];
  }
}

/** What `send` reports: an error of HTTP, with the headers of its answer. */
interface SendError extends Error {
  readonly status?: number;
  readonly headers?: Record<string, string>;
}

function view({ nodeId, mountLabel, createdAt, ...artifact }: StoredArtifact): ArtifactView {
  return {
    ...artifact,
    node_id: nodeId,
    mount_label: mountLabel,
    created_at: new Date(createdAt).toISOString(),
  };
}
