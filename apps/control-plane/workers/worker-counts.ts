/** What passed between workers and this server since it began. */
export class WorkerCounts {
  /** Frames that were taken in, those about runs that are not theirs included. */
  frames = 0;
  /** Acknowledgements that were sent. */
  acks = 0;
  /** Connections of workers that had been connected before. */
  reconnects = 0;
}
