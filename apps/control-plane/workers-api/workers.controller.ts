import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { WorkerHistory, WorkerList, WorkerRow } from '@cdui/protocol';
import { CodedError } from '@cdui/protocol';
import { NOT_FOUND, Refuses } from '../openapi/errors.dto';
import { RunService } from '../runs/run-service';
import type { Worker } from '../workers/worker';
import { WorkerRegistry } from '../workers/worker-registry';
import { WorkerHistoryDto, WorkerListDto, WorkerRowDto } from './worker.dto';
import { rejectView, workerHistory, workerRow } from './worker-rows';

const WorkerIdParam = (): MethodDecorator =>
  ApiParam({ name: 'id', description: 'The worker’s id, which is its name.', schema: { type: 'string' } });

/** Workers: who there is, what they have, how their devices fared. */
@ApiTags('workers')
@Controller('workers')
export class WorkersController {
  constructor(
    private readonly workers: WorkerRegistry,
    private readonly runs: RunService,
  ) {}

  @Get()
  @ApiOperation({ summary: 'List workers', description: 'Those that are away are listed as well.' })
  @ApiOkResponse({ type: WorkerListDto })
  list(): WorkerList {
    return {
      workers: this.workers.list().map((worker) => this.row(worker)),
      rejected: [...this.workers.rejections].map(([name, frame]) => ({ name, ...rejectView(frame) })),
    };
  }

  @Get(':id')
  @ApiOperation({ summary: 'One worker' })
  @WorkerIdParam()
  @ApiOkResponse({ type: WorkerRowDto })
  @Refuses(NOT_FOUND)
  get(@Param('id') id: string): WorkerRow {
    return this.row(this.existing(id));
  }

  @Get(':id/history')
  @ApiOperation({
    summary: 'The last hour of a worker’s devices',
    description: 'One sample a minute, from the time on when the server heard of the worker.',
  })
  @WorkerIdParam()
  @ApiOkResponse({ type: WorkerHistoryDto })
  @Refuses(NOT_FOUND)
  history(@Param('id') id: string): WorkerHistory {
    return workerHistory(this.existing(id));
  }

  @Post(':id/drain')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Drain a worker',
    description:
      'It takes no new runs; those that it has go on, and those that wait for it wait. This holds until it is undrained, or its agent connects anew.',
  })
  @WorkerIdParam()
  @ApiOkResponse({ type: WorkerRowDto })
  @Refuses(NOT_FOUND)
  drain(@Param('id') id: string): WorkerRow {
    return this.drained(id, true);
  }

  @Post(':id/undrain')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Let a drained worker take new runs again',
    description: 'An agent that is about to end (`cdui agent stop --drain`) goes on refusing them.',
  })
  @WorkerIdParam()
  @ApiOkResponse({ type: WorkerRowDto })
  @Refuses(NOT_FOUND)
  undrain(@Param('id') id: string): WorkerRow {
    return this.drained(id, false);
  }

  private drained(id: string, drained: boolean): WorkerRow {
    const worker = this.existing(id);
    this.workers.drain(worker, drained);
    return this.row(worker);
  }

  private row(worker: Worker): WorkerRow {
    return workerRow(worker, (slot) => this.runs.usage(slot));
  }

  private existing(id: string): Worker {
    const worker = this.workers.get(id);
    if (worker) return worker;
    const name = id.slice(0, 80);
    throw new CodedError('worker_not_found', `There is no worker "${name}": the list of workers has them all`, {
      id: name,
    });
  }
}
