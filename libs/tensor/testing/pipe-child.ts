import { Socket } from 'node:net';
import { compiler } from '../onnx/compiler';
import { createServer } from '../onnx/server';
import type { ClientFrame } from '../runtime/wire';
import { readMessages, writeMessage } from './pipe-frames';

/** The embedded runtime's server in a process of its own, over the pipe that is file descriptor 3. */
const pipe = new Socket({ fd: 3, readable: true, writable: true });
const server = createServer({
  compiler,
  threads: Number(process.argv[2] ?? 1),
  check: process.argv[3] === 'check',
  post: (frame) => writeMessage(pipe, { frame }),
});
readMessages(pipe, (message) => {
  const { frame } = message as { frame?: ClientFrame };
  if (frame) server.handle(frame);
  else void server.end().then(() => pipe.end());
});
pipe.on('end', () => process.exit(0));
writeMessage(pipe, { hello: server.hello });
