/** One connection of an agent. What comes is handed to the listener, in order. */
export interface WorkerTransport {
  /** Of the far side, for people. */
  readonly address: string;
  send(text: string): void;
  ping(): void;
  /** Reading stops, and with it, by TCP, the far side's writing. */
  pause(): void;
  resume(): void;
  /** Answers with `onClosed` in the end, however the far side behaves. */
  close(code: number, reason: string): void;
  listen(listener: TransportListener): void;
}

export interface TransportListener {
  /** @param bytes of the message as it came */
  onMessage(text: string, bytes: number): void;
  /** Something came: a message, a ping, a pong. */
  onAlive(): void;
  /** Once; nothing comes after it. */
  onClosed(code: number): void;
}

/** How the far side showed who it is. A connection takes the place of another one only when both showed the same. */
export interface WorkerCredential {
  readonly kind: 'session' | 'enrolled';
  /** The only name it may use; null: any that no enrolled worker has. */
  readonly name: string | null;
}
