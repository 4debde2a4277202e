/** Names under which the parts of the server ask for what is not a class: see `libs/execution` for what each promises. */
export const RUN_STORE = Symbol('RUN_STORE');
export const EVENT_STORE = Symbol('EVENT_STORE');
export const WORKER_STORE = Symbol('WORKER_STORE');
export const EXECUTOR = Symbol('EXECUTOR');
export const CLOCK = Symbol('CLOCK');
export const IDS = Symbol('IDS');
