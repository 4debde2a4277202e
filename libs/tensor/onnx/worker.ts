import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { compiler } from './compiler';
import { createServer } from './server';
import { StateFlag, type FromWorker, type ToWorker, type WorkerData, type WorkerOptions } from './worker-protocol';

interface Peer {
  postMessage(message: FromWorker, transfer?: readonly ArrayBuffer[]): void;
  on(event: 'message', listener: (message: ToWorker) => void): unknown;
  close(): void;
}

/** Serves one client over a port. The port closes when the server has ended, and the server ends when the port has closed. */
function serve(peer: Peer, options: WorkerOptions, flag: StateFlag): { end(): Promise<void> } {
  const server = createServer({
    ...options,
    compiler,
    post: (frame, transfer) => peer.postMessage({ frame }, transfer),
    stopped: () => flag.stopped,
    onBusy: (busy) => {
      if (busy) flag.enter();
      else flag.leave();
    },
    onEnd: () => peer.close(),
  });
  const end = async () => {
    await server.end();
    peer.close();
  };
  peer.on('message', (message) => {
    if ('frame' in message) server.handle(message.frame);
    else if ('end' in message) void end();
  });
  peer.postMessage({ hello: server.hello });
  return { end };
}

const { options, flag } = workerData as WorkerData;
const parent = parentPort!;
if (flag) serve(parent as unknown as Peer, options, new StateFlag(flag));
else {
  const open = new Set<{ end(): Promise<void> }>();
  parent.on('message', (message: ToWorker) => {
    if ('connect' in message) {
      const port: MessagePort = message.connect;
      const served = serve(port as unknown as Peer, message.options, new StateFlag(message.flag));
      open.add(served);
      port.once('close', () => {
        open.delete(served);
        void served.end();
      });
    } else if ('end' in message) void Promise.all([...open].map((served) => served.end())).then(() => parent.close());
  });
}
