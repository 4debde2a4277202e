export * from './device-inventory';
export { NvidiaCards, nvmlLibrary } from './nvidia-cards';
