import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { compiler } from './compiler';
import { createServer, type RuntimeServer } from './server';
import { StateFlag, type FromWorker, type ToWorker, type WorkerData, type WorkerOptions } from './worker-protocol';

interface Peer {
  postMessage(message: FromWorker, transfer?: readonly ArrayBuffer[]): void;
  on(event: 'message', listener: (message: ToWorker) => void): unknown;
  close(): void;
}

/** Serves one client over a port. The port closes when the server has ended. */
function serve(peer: Peer, options: WorkerOptions, flag: StateFlag): RuntimeServer {
  const server = createServer({
    ...options,
    compiler,
    post: (frame, transfer) => peer.postMessage({ frame }, transfer),
    enter: () => flag.enter(),
    leave: () => flag.leave(),
    onEnd: () => peer.close(),
  });
  peer.on('message', (message) => {
    if ('frame' in message) server.handle(message.frame);
    else if ('end' in message) void server.end().then(() => peer.close());
  });
  peer.postMessage({ hello: server.hello });
  return server;
}

const { options, flag } = workerData as WorkerData;
const parent = parentPort!;
if (flag) serve(parent, options, new StateFlag(flag));
else {
  const open = new Map<MessagePort, RuntimeServer>();
  parent.on('message', (message: ToWorker) => {
    if ('connect' in message) {
      const port = message.connect;
      const server = serve(port, message.options, new StateFlag(message.flag));
      open.set(port, server);
      // The client closed its end, or its thread is gone: nobody waits for what is still queued.
      port.once('close', () => {
        open.delete(port);
        void server.end({ drop: true });
      });
    } else if ('end' in message) void endAll(open).then(() => parent.close());
  });
}

async function endAll(open: ReadonlyMap<MessagePort, RuntimeServer>): Promise<void> {
  for (const [port, server] of open) {
    await server.end();
    port.close();
  }
}
