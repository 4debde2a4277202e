export * from './safetensors';
export { MAX_HEADER_BYTES, type FileDType, type FileTensor, type SafetensorsHeader } from './safetensors-header';
export { joinStates, MODEL_STATE, splitStates } from './states';
