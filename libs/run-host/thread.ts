import { parentPort, workerData } from 'node:worker_threads';
import type { RunHostAnswer, RunHostCommand, RunHostMessage } from '@cdui/protocol';
import { CodedError } from '@cdui/protocol';
import { connectOnnxRuntime } from '@cdui/tensor/onnx';
import { CatalogueLoader } from './catalogue';
import { StopWord } from './client/stop-word';
import type { RunHostThreadData } from './client/thread-data';
import { RunHost } from './host';
import { hostSettings } from './settings';
import { sleep } from './sleep';

/** A run host in a thread of its own: connects it to the thread that started it and to the runtime's. */
function main(data: RunHostThreadData): void {
  const port = parentPort;
  if (!port) throw new CodedError('not_a_thread', 'The run host’s entry must be started as a thread');
  const stop = new StopWord(data.stop);
  const loader = new CatalogueLoader();
  const host = new RunHost({
    post: (message: RunHostMessage | RunHostAnswer) => port.postMessage(message),
    settings: hostSettings(process.env),
    catalogue: (folders) => loader.load(folders),
    openRuntime: (device) => {
      if (device === 'cpu') return connectOnnxRuntime(data.runtime);
      const message = `The device ${device} is not available: this program computes on cpu`;
      throw new CodedError('device_not_available', message, { device });
    },
    stopRequested: () => stop.reason,
    now: () => performance.now(),
    sleep,
    session: data.session,
  });
  captureStream(process.stdout, (text) => host.console(text));
  captureStream(process.stderr, (text) => host.console(text));
  process.on('uncaughtException', (error) => host.defect(error));
  process.on('unhandledRejection', (error) => host.defect(error));
  port.on('message', (command: RunHostCommand) => {
    if (command.type === 'close') void host.close().finally(() => end(data));
    else host.handle(command);
  });
  // Custom modules are compiled when they are first loaded: better now than when somebody waits.
  loader.load({ customNodes: data.customNodes, presets: data.presets });
  port.postMessage({ type: 'ready' } satisfies RunHostMessage);
  void host.warmUp('cpu');
}

function end(data: RunHostThreadData): void {
  data.runtime.port.close();
  process.exit(0);
}

/** Sends what is written to a stream to the run's console instead. */
function captureStream(stream: NodeJS.WriteStream, take: (text: string) => void): void {
  const write = (chunk: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
    take(typeof chunk === 'string' ? chunk : new TextDecoder().decode(chunk));
    const done = rest.find((argument) => typeof argument === 'function');
    if (typeof done === 'function') done();
    return true;
  };
  stream.write = write;
}

main(workerData as RunHostThreadData);
