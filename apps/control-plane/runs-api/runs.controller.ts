import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { RunCancelled, RunDeleted, RunDetail, RunList, RunMoved, RunSubmitted } from '@cdui/protocol';
import { checkMove } from '@cdui/protocol';
import type { Request, Response } from 'express';
import { CONFLICT, NOT_FOUND, NO_STORAGE, REFUSED, Refuses, SHAPE } from '../openapi/errors.dto';
import { RunIdParam } from '../openapi/params';
import { Runs } from '../runs/runs';
import { UnreadJson } from '../system/json-body';
import { RunListQuery } from './queries';
import {
  MoveDto,
  RunCancelledDto,
  RunDeletedDto,
  RunDetailDto,
  RunListDto,
  RunMovedDto,
  RunSubmittedDto,
} from './run.dto';
import { SubmissionDto } from './submission.dto';

/** Whether the request's body goes unread to where its graph is checked. Another spelling of the path has it read on the way. */
export function isSubmission({ method, path }: Request): boolean {
  return method === 'POST' && path === '/api/runs';
}

/** Runs: accepting, listing, showing and stopping them. */
@ApiTags('runs')
@Controller('runs')
export class RunsController {
  constructor(private readonly runs: Runs) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Submit a run',
    description: 'When this answers, the run is stored: it will be executed, or end with a reason.',
  })
  @ApiBody({ type: SubmissionDto })
  @ApiOkResponse({ type: RunSubmittedDto })
  @Refuses(REFUSED, SHAPE, NO_STORAGE)
  async submit(@Body() body: unknown, @Res({ passthrough: true }) response: Response): Promise<RunSubmitted> {
    const submitted = await (body instanceof UnreadJson ? this.runs.submitJson(body.bytes) : this.runs.submit(body));
    response.locals['run_id'] = submitted.run_id;
    return submitted;
  }

  @Get()
  @ApiOperation({ summary: 'List runs', description: 'Newest first unless another order is asked for.' })
  @ApiOkResponse({ type: RunListDto })
  @Refuses(SHAPE)
  list(@Query() { worker, sweep_id, ...filter }: RunListQuery): Promise<RunList> {
    return this.runs.list({
      ...filter,
      ...(worker !== undefined && { workerId: worker }),
      ...(sweep_id !== undefined && { sweepId: sweep_id }),
    });
  }

  @Get(':id')
  @ApiOperation({ summary: 'One run, with its graph' })
  @RunIdParam()
  @ApiOkResponse({ type: RunDetailDto })
  @Refuses(NOT_FOUND)
  get(@Param('id') id: string): Promise<RunDetail> {
    return this.runs.get(id);
  }

  @Post(':id/cancel')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Stop a run',
    description:
      'A waiting run is cancelled at once; a running one stops at its next safe point. Asking again does no harm.',
  })
  @RunIdParam()
  @ApiOkResponse({ type: RunCancelledDto })
  @Refuses(NOT_FOUND, NO_STORAGE)
  cancel(@Param('id') id: string): Promise<RunCancelled> {
    return this.runs.cancel(id);
  }

  @Post(':id/retry')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Run it again',
    description: 'A new run with the same graph and options. 409 `secrets_needed` when the graph had secrets.',
  })
  @RunIdParam()
  @ApiOkResponse({ type: RunSubmittedDto })
  @Refuses(REFUSED, NOT_FOUND, CONFLICT, NO_STORAGE)
  retry(@Param('id') id: string): Promise<RunSubmitted> {
    return this.runs.retry(id);
  }

  @Post(':id/move')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Move a waiting run within its queue',
    description:
      'It gets the priority of the run that it then stands before. 409 `run_not_waiting` when one of the two does not wait, `run_in_other_queue` when they wait apart.',
  })
  @RunIdParam()
  @ApiBody({ type: MoveDto })
  @ApiOkResponse({ type: RunMovedDto })
  @Refuses(SHAPE, NOT_FOUND, CONFLICT)
  move(@Param('id') id: string, @Body() body: unknown): Promise<RunMoved> {
    return this.runs.move(id, checkMove(body));
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Delete an ended run', description: '409 `run_active` while it has not ended.' })
  @RunIdParam()
  @ApiOkResponse({ type: RunDeletedDto })
  @Refuses(NOT_FOUND, CONFLICT, NO_STORAGE)
  delete(@Param('id') id: string): Promise<RunDeleted> {
    return this.runs.delete(id);
  }
}
