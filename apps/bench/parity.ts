import { programRoot } from '@cdui/host/entry';
import { openOnnxRuntime } from '@cdui/tensor/onnx';
import { goldenFolder } from '@cdui/tensor/parity/cases';
import { measureParity } from '@cdui/tensor/parity/parity';
import type { Figures, Report } from './figures';

/** The golden cases made with PyTorch, run on the embedded runtime: how many, and how far off the worst is. */
export async function benchParity(report: Report): Promise<Figures> {
  const runtime = await openOnnxRuntime({ device: 'cpu', threads: 2 });
  try {
    const results = await measureParity(runtime, goldenFolder(programRoot()));
    const worst = results.reduce((a, b) => (b.error > a.error ? b : a));
    report(`${results.length} cases, worst ${worst.error.toExponential(2)}: ${worst.name}, ${worst.tensor}`);
    return { 'parity.cases': results.length, 'parity.max_rel_error': worst.error };
  } finally {
    await runtime.close();
  }
}
