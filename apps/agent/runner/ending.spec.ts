import type { RunOutcome } from '@cdui/protocol';
import type { ProcessEnd } from './ending';
import { madeOutcome, outcomeOfEnd, stoppedByAgent } from './ending';

const END: ProcessEnd = { code: null, signal: null, forced: null, oom: false, output: '', seconds: 2 };
const reason = (end: Partial<ProcessEnd>) => outcomeOfEnd({ ...END, ...end }).reason;
const V8 =
  'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n----- Native stack trace -----';

describe('outcomeOfEnd', () => {
  it('names how a process ended by itself', () => {
    expect(reason({ code: 3 })).toEqual({ code: 'run_exit', params: { code: 3 } });
    expect(reason({ code: 0 })).toEqual({ code: 'run_exit', params: { code: 0 } });
    expect(reason({ signal: 'SIGSEGV' })).toEqual({ code: 'run_signal', params: { signal: 'SIGSEGV' } });
  });

  it('holds want of memory for likely when the system killed something meanwhile', () => {
    expect(reason({ signal: 'SIGKILL' })).toEqual({ code: 'run_killed', params: {} });
    expect(reason({ signal: 'SIGKILL', oom: true })).toEqual({ code: 'run_killed', params: { likely: 'oom' } });
    expect(reason({ signal: 'SIGTERM', oom: true })).toEqual({ code: 'run_signal', params: { signal: 'SIGTERM' } });
  });

  it('tells a full heap from another abort by what was printed', () => {
    const heap = { code: 'run_out_of_memory', params: { memory: 'heap' } };
    expect(reason({ signal: 'SIGABRT', output: V8 })).toEqual(heap);
    expect(reason({ code: 134, output: V8 })).toEqual(heap);
    expect(
      reason({ signal: 'SIGABRT', output: "terminate called after throwing an instance of 'std::bad_alloc'" }),
    ).toEqual({
      code: 'run_out_of_memory',
      params: { memory: 'allocator' },
    });
    expect(reason({ signal: 'SIGABRT', output: 'assertion failed' })?.code).toBe('run_signal');
    expect(reason({ code: 1, output: V8 })?.code).toBe('run_exit');
  });

  it('says of a run that was ended by force for whom that was done, whatever signal it died of', () => {
    const forced = { by: 'cancel', seconds: 30 } as const;
    expect(outcomeOfEnd({ ...END, signal: 'SIGKILL', forced, oom: true, output: 'left out' })).toMatchObject({
      status: 'failed',
      error: 'The run did not stop within 30 s and was ended by force',
      reason: { code: 'run_unresponsive', params: { seconds: 30 } },
    });
    const stopped = { ...END, signal: 'SIGTERM', forced: { by: 'agent_stopped', seconds: 10 } } as const;
    expect(outcomeOfEnd(stopped)).toMatchObject({ status: 'interrupted', reason: { code: 'agent_stopped' } });
  });

  it('adds the end of what was printed to the error', () => {
    expect(outcomeOfEnd({ ...END, code: 1, output: 'Traceback\nValueError\n' })).toMatchObject({
      error: 'The run’s process ended by itself with exit code 1\nThe end of its output:\nTraceback\nValueError',
      seconds: 2,
    });
    expect(outcomeOfEnd({ ...END, code: 1, output: ' \n' }).error).toBe(
      'The run’s process ended by itself with exit code 1',
    );
  });
});

describe('stoppedByAgent', () => {
  const outcome = (status: RunOutcome['status']): RunOutcome => ({ ...madeOutcome('run_exit', {}, {}), status });

  it('speaks for a run that stopped, not for one that was done or failed', () => {
    for (const status of ['cancelled', 'interrupted'] as const) {
      expect(stoppedByAgent(outcome(status), 'agent_stopped')).toMatchObject({
        status: 'interrupted',
        reason: { code: 'agent_stopped', params: {} },
      });
    }
    for (const status of ['succeeded', 'failed'] as const) {
      expect(stoppedByAgent(outcome(status), 'agent_stopped')).toEqual(outcome(status));
    }
  });
});
