export type { Clock, Random } from '@cdui/protocol';

/** Names for what is new. */
export interface Ids {
  /** 32 hexadecimal digits that no other run has. */
  runId(): string;
}
