import { endNow } from '@cdui/host/end-now';
import { EXIT } from './exit-codes';

/** Ends the program quietly, as a tool in a pipeline does, once nobody reads what it writes any more (`cdui ... | head`). */
export function endWithReader(...streams: readonly NodeJS.WriteStream[]): void {
  for (const stream of streams) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') void endNow(EXIT.noReader);
      else throw error;
    });
  }
}
