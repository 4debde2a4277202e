import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation, ApiProduces, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { LogSearch } from '@cdui/protocol';
import type { Request, Response } from 'express';
import { ConsoleLogs } from '../events/console-logs';
import { NOT_FOUND, Refuses, SHAPE } from '../openapi/errors.dto';
import { RunIdParam } from '../openapi/params';
import { Runs } from '../runs/runs';
import { Boot } from '../system/boot';
import { byteRange } from '../system/byte-range';
import { patience } from '../system/patience';
import { LogQuery, LogSearchQuery, MAX_LOG_BYTES } from './queries';
import { LogSearchDto } from './run-parts.dto';

/** Where the answer's first byte stands in the log. Larger than asked for when the middle of a long log was dropped. */
export const LOG_OFFSET_HEADER = 'X-Log-Offset';
/** Where to go on reading. */
export const LOG_NEXT_HEADER = 'X-Log-Next';
/** How much the run has printed so far. */
export const LOG_SIZE_HEADER = 'X-Log-Size';
export const RUN_STATUS_HEADER = 'X-Run-Status';
/** `true` while the run may print more. */
export const RUN_ACTIVE_HEADER = 'X-Run-Active';

const WHOLE = { schema: { type: 'integer' } } as const;

@ApiTags('runs')
@Controller('runs')
export class LogController {
  constructor(
    private readonly runs: Runs,
    private readonly logs: ConsoleLogs,
    private readonly boot: Boot,
  ) {}

  @Get(':id/log')
  @ApiOperation({
    summary: 'What a run printed',
    description:
      'Bytes of its standard output and error from `offset` on. The answer is empty when there are none, after `wait` seconds at most. `Range` ' +
      'works as well, instead of `offset` and `limit`. A very long log keeps its beginning and its end: headers say where the answer stands.',
  })
  @RunIdParam()
  @ApiHeader({ name: 'Range', required: false, description: 'One range of bytes.' })
  @ApiProduces('text/plain')
  @ApiOkResponse({
    schema: { type: 'string' },
    headers: {
      [LOG_OFFSET_HEADER]: { ...WHOLE, description: 'Where the first byte stands.' },
      [LOG_NEXT_HEADER]: { ...WHOLE, description: 'Where to go on reading.' },
      [LOG_SIZE_HEADER]: { ...WHOLE, description: 'How much was printed so far.' },
      [RUN_STATUS_HEADER]: { schema: { type: 'string' } },
      [RUN_ACTIVE_HEADER]: { schema: { type: 'string', enum: ['true', 'false'] } },
    },
  })
  @ApiResponse({ status: 206, description: 'The part that `Range` asks for' })
  @ApiResponse({ status: 416, description: 'The log has no byte of that range' })
  @Refuses(NOT_FOUND, SHAPE)
  async read(
    @Param('id') id: string,
    @Query() { offset, limit, wait }: LogQuery,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    let state = await this.runs.state(id);
    response.type('text/plain; charset=utf-8').set({
      'Cache-Control': 'no-store',
      'Accept-Ranges': 'bytes',
    });
    const { range } = request.headers;
    if (range !== undefined && (await this.sendRange(id, range, state, response))) return;
    let part = await this.logs.read(id, offset, limit);
    if (part.bytes.length === 0 && wait > 0 && state.active) {
      const { signal, over } = patience(response, this.boot);
      await this.logs.wait(id, offset, wait * 1000, signal);
      over();
      state = await this.runs.state(id);
      part = await this.logs.read(id, offset, limit);
    }
    response.set(headersOf(part, state)).end(part.bytes);
  }

  /** @returns whether the header asked for something that can be answered */
  private async sendRange(id: string, header: string, state: State, response: Response): Promise<boolean> {
    const { size } = await this.logs.read(id, 0, 1);
    const range = byteRange(header, size);
    if (range === null) return false;
    if (range === 'unsatisfiable') {
      response.status(416).set('Content-Range', `bytes */${size}`).end();
      return true;
    }
    const part = await this.logs.read(id, range.start, Math.min(range.end - range.start, MAX_LOG_BYTES));
    // What was dropped in the middle may begin where the range does.
    const bytes = part.bytes.subarray(0, Math.max(0, range.end - part.offset));
    if (bytes.length === 0) {
      response.status(416).set('Content-Range', `bytes */${size}`).end();
      return true;
    }
    const last = part.offset + bytes.length - 1;
    response
      .status(206)
      .set({ ...headersOf({ ...part, bytes }, state), 'Content-Range': `bytes ${part.offset}-${last}/${part.size}` })
      .end(bytes);
    return true;
  }

  @Get(':id/log/search')
  @ApiOperation({ summary: 'Lines of what a run printed that hold a text' })
  @RunIdParam()
  @ApiOkResponse({ type: LogSearchDto })
  @Refuses(NOT_FOUND, SHAPE)
  async search(@Param('id') id: string, @Query() { q, limit }: LogSearchQuery): Promise<LogSearch> {
    await this.runs.state(id);
    return { run_id: id, ...(await this.logs.search(id, q, limit)) };
  }
}

interface State {
  readonly status: string;
  readonly active: boolean;
}

function headersOf(
  { offset, bytes, size }: { readonly offset: number; readonly bytes: Buffer; readonly size: number },
  { status, active }: State,
): Record<string, string> {
  return {
    [LOG_OFFSET_HEADER]: String(offset),
    [LOG_NEXT_HEADER]: String(offset + bytes.length),
    [LOG_SIZE_HEADER]: String(size),
    [RUN_STATUS_HEADER]: status,
    [RUN_ACTIVE_HEADER]: String(active),
  };
}
