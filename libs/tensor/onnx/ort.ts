/** The native library. Everyone who needs more than its types gets it from here, so that it is never loaded without the settings before it. */
import './no-telemetry';

export { InferenceSession, Tensor } from 'onnxruntime-node';
