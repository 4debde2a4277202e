import { Injectable } from '@nestjs/common';

/** Tells whoever wants to know how long each commit took, in milliseconds. */
@Injectable()
export class CommitTimes {
  observe: (ms: number) => void = () => undefined;
}
