import { Controller, Get, Inject, Param, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags, getSchemaPath } from '@nestjs/swagger';
import type { EventStore, StoredMetric } from '@cdui/execution';
import type { Response } from 'express';
import { NOT_FOUND, Refuses, SHAPE } from '../openapi/errors.dto';
import { RunIdParam } from '../openapi/params';
import { Runs } from '../runs/runs';
import { sendText } from '../system/text-stream';
import { EVENT_STORE } from '../tokens';
import { BYTE_ORDER_MARK, CSV_HEADER, csvLine, jsonPoint } from './metrics-text';
import { MetricsQuery } from './queries';
import { RunMetricsDto } from './run-parts.dto';

/** Points that one read of the store takes: some hundred kilobytes of text. */
const PAGE = 5_000;

@ApiTags('runs')
@Controller('runs')
export class MetricsController {
  constructor(
    private readonly runs: Runs,
    @Inject(EVENT_STORE) private readonly store: EventStore,
  ) {}

  @Get(':id/metrics')
  @ApiOperation({
    summary: 'The metrics of a run',
    description: 'In the order of recording, as JSON or as a CSV file.',
  })
  @RunIdParam()
  @ApiOkResponse({
    description: 'As JSON, or as UTF-8 with the columns run_id, node_id, name, step, value, ts',
    content: {
      'application/json': { schema: { $ref: getSchemaPath(RunMetricsDto) } },
      'text/csv': { schema: { type: 'string' } },
    },
  })
  @Refuses(NOT_FOUND, SHAPE)
  async read(@Param('id') id: string, @Query() query: MetricsQuery, @Res() response: Response): Promise<void> {
    await this.runs.state(id);
    const { name, format } = query;
    if (format === 'csv') {
      response.type('text/csv; charset=utf-8').attachment(`run-${id}-metrics.csv`);
      return sendText(response, this.csv(id, name));
    }
    response.type('application/json; charset=utf-8');
    return sendText(response, this.json(id, name));
  }

  private async *csv(id: string, name: string | undefined): AsyncGenerator<string> {
    yield `${BYTE_ORDER_MARK}${CSV_HEADER}\r\n`;
    for await (const points of this.pages(id, name)) yield points.map((point) => csvLine(id, point)).join('');
  }

  private async *json(id: string, name: string | undefined): AsyncGenerator<string> {
    const names = (await this.store.metricNames(id)).filter((known) => name === undefined || known === name);
    yield `{"run_id":"${id}","names":${JSON.stringify(names)},"metrics":[`;
    let separator = '';
    for await (const points of this.pages(id, name)) {
      yield separator + points.map(jsonPoint).join(',');
      separator = ',';
    }
    yield ']}';
  }

  private async *pages(id: string, name: string | undefined): AsyncGenerator<readonly StoredMetric[]> {
    let after: number | null = null;
    do {
      const page: Awaited<ReturnType<EventStore['metrics']>> = await this.store.metrics(id, {
        limit: PAGE,
        ...(name !== undefined && { name }),
        ...(after !== null && { after }),
      });
      if (page.points.length > 0) yield page.points;
      after = page.next;
    } while (after !== null);
  }
}
