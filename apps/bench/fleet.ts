import { createInterface } from 'node:readline';
import type { HelloFrame } from '@cdui/protocol';
import { WebSocket } from 'ws';
import { ReconnectPause } from '../agent/core/reconnect-pause';
import { helloOf } from '../control-plane/testing/scripted-agent';

/*
 * Many agents in one process, for measurements: `node fleet.js URL TOKEN FIRST COUNT`. It reads commands, a line each:
 *
 *   dial SINCE    every agent dials, at once; answered by `welcomed MS` when the last has its welcome, counted from SINCE (since the epoch)
 *   backoff       each tries again and again as a real agent does; answered by `welcomed [TIME, ...]` when all are in
 *   URL TOKEN     where to dial from now on
 */

let [url, token] = process.argv.slice(2) as [string, string];
const [first, count] = process.argv.slice(4).map(Number) as [number, number];

class FleetAgent {
  private readonly pause = new ReconnectPause(Math.random);

  constructor(private readonly hello: HelloFrame) {}

  /** One try. @returns whether it is welcome */
  dial(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = new WebSocket(url, { headers: { 'x-codefyui-token': token }, perMessageDeflate: false });
      socket.on('open', () => socket.send(JSON.stringify(this.hello)));
      socket.once('message', (data: Buffer) => {
        const { heartbeat_s: seconds } = JSON.parse(data.toString()) as { readonly heartbeat_s: number };
        const { devices } = this.hello;
        const heartbeat = JSON.stringify({ type: 'heartbeat', devices, running: [] });
        const timer = setInterval(() => socket.send(heartbeat), seconds * 1000);
        socket.once('close', () => clearInterval(timer));
        socket.send('{"type":"run_alive","runs":[]}');
        this.pause.reset();
        resolve(true);
      });
      socket.on('error', () => undefined);
      socket.once('close', () => resolve(false));
    });
  }

  /** As real agents do: again and again, with pauses that grow. */
  async comeBack(): Promise<number> {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, this.pause.next()));
      if (await this.dial()) return Date.now();
    }
  }
}

const agents = Array.from({ length: count }, (_, index) => {
  const name = `fleet-${first + index}`;
  return new FleetAgent(helloOf(name, { devices: helloOf(name).devices.slice(0, 1) }));
});

async function all(step: (agent: FleetAgent) => Promise<unknown>): Promise<void> {
  await Promise.all(agents.map(step));
}

/** Dials without a pause until it is in: a listening socket may be full for a moment. */
async function insist(agent: FleetAgent): Promise<void> {
  while (!(await agent.dial()));
}

async function obey(): Promise<void> {
  for await (const line of createInterface(process.stdin)) {
    const [command = '', argument = ''] = line.split(' ');
    switch (command) {
      case 'dial':
        await all(insist);
        process.stdout.write(`welcomed ${Date.now() - Number(argument)}\n`);
        break;
      case 'backoff':
        // They are on their way before there is a server, as after a crash.
        void Promise.all(agents.map((agent) => agent.comeBack())).then((times) =>
          process.stdout.write(`welcomed ${JSON.stringify(times)}\n`),
        );
        break;
      default:
        [url, token] = [command, argument];
    }
  }
}

void obey();
