import { Controller, Get, Header, Inject, Param, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { EventPage } from '@cdui/execution';
import type { Response } from 'express';
import { SETTINGS, type Settings } from '../config/settings';
import { EventLog } from '../events/event-log';
import { NOT_FOUND, Refuses, SHAPE } from '../openapi/errors.dto';
import { RunIdParam } from '../openapi/params';
import { Runs } from '../runs/runs';
import { Boot } from '../system/boot';
import { patience } from '../system/patience';
import { EventsQuery } from './queries';
import { RunEventsDto } from './run-parts.dto';

@ApiTags('runs')
@Controller('runs')
export class EventsController {
  constructor(
    private readonly runs: Runs,
    private readonly log: EventLog,
    private readonly boot: Boot,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  @Get(':id/events')
  @Header('Content-Type', 'application/json; charset=utf-8')
  @Header('Cache-Control', 'no-store')
  @ApiOperation({
    summary: 'The events of a run after a cursor',
    description:
      'Answers at once when there are any, else when one comes or after `wait` seconds. A page holds at most `limit` events, and fewer when ' +
      'they are large. A run that is not `active` and has no events after the cursor has no more to say.',
  })
  @RunIdParam()
  @ApiOkResponse({ type: RunEventsDto })
  @Refuses(NOT_FOUND, SHAPE)
  async read(
    @Param('id') id: string,
    @Query() { cursor, wait, limit }: EventsQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    // The state comes first: of a run that had ended by then, what follows is all there is.
    let state = await this.runs.state(id);
    let page = await this.page(id, cursor, limit);
    if (page.events.length === 0 && wait > 0 && state.active) {
      const { signal, over } = patience(response, this.boot);
      const deadline = performance.now() + wait * 1000;
      // Who is told of an event that is not after the cursor waits on.
      for (let left = wait * 1000; left > 0; left = deadline - performance.now()) {
        await this.log.wait(id, cursor, left, signal);
        state = await this.runs.state(id);
        page = await this.page(id, cursor, limit);
        if (page.events.length > 0 || !state.active || signal.aborted) break;
      }
      over();
    }
    return pageText(id, state, page);
  }

  private page(id: string, cursor: number, limit: number): Promise<EventPage> {
    return this.log.read(id, cursor, limit, this.settings.runEventsResponseCapBytes);
  }
}

/** Payloads are JSON text already: they are put in as they are. */
function pageText(id: string, state: { status: string; active: boolean }, { events, cursor }: EventPage): string {
  const items = events.map(
    ({ cursor: at, type, payload, ts }) =>
      `{"cursor":${at},"type":${JSON.stringify(type)},"payload":${payload},"ts":"${new Date(ts).toISOString()}"}`,
  );
  const head = JSON.stringify({ run_id: id, status: state.status, active: state.active });
  return `${head.slice(0, -1)},"events":[${items.join(',')}],"cursor":${cursor}}`;
}
