import { ThreadTransport } from '../onnx';
import { runtimeContract } from './contract';

runtimeContract('the embedded runtime in a thread', ({ threads = 1 }) => new ThreadTransport({ threads, check: true }));
