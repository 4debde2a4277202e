import fc from 'fast-check';
import { capPayloadText, capPayload, DEFAULT_PAYLOAD_CAP_BYTES, jsonBytes } from './cap-payload';

const image = (size: number) => ({
  output_kind: 'image',
  image: { format: 'png', encoding: 'base64', data: 'A'.repeat(size) },
});

describe('capPayload', () => {
  it('leaves what fits as it is', () => {
    const payload = { node_id: 'n', status: 'completed', outputs: [image(100)] };
    expect(capPayload(payload)).toBe(payload);
  });

  it('turns numbers that JSON lacks into null, wherever they are', () => {
    const payload = {
      node_id: 'n',
      outputs: [{ output_kind: 'progress', progress: { loss: NaN, all: [1, Infinity] } }],
    };
    expect(capPayload(payload)).toEqual({
      node_id: 'n',
      outputs: [{ output_kind: 'progress', progress: { loss: null, all: [1, null] } }],
    });
  });

  it('elides the biggest outputs first and says how big they were', () => {
    const small = { output_kind: 'text', text: 'kept', port: 'log' };
    const payload = { node_id: 'n', status: 'completed', outputs: [small, image(5_000), image(900)] };
    const capped = capPayload(payload, 2_000);
    expect(capped.outputs[0]).toBe(small);
    expect(capped.outputs[1]).toEqual({
      output_kind: 'image',
      elided: true,
      bytes: jsonBytes(payload.outputs[1]),
      cap_bytes: 2_000,
    });
    expect(capped.outputs[2]).toEqual(payload.outputs[2]);
  });

  it('cuts long strings when there is nothing to elide, but not the error', () => {
    const error = 'the reason '.repeat(30);
    const capped = capPayload({ node_id: 'n', status: 'error', error, detail: 'x'.repeat(10_000) }, 1_000);
    expect(capped.error).toBe(error);
    expect(capped.detail).toMatch(/^x+\.\.\. \[truncated\]$/);
  });

  it('cuts an error that is too long itself, and keeps its beginning', () => {
    const capped = capPayload({ node_id: 'n', status: 'error', error: `first line ${'x'.repeat(300_000)}` });
    expect(capped.error).toMatch(/^first line x+\.\.\. \[truncated\]$/);
    expect(jsonBytes(capped)).toBeGreaterThan(DEFAULT_PAYLOAD_CAP_BYTES - 10);
  });

  it('elides the data of an artifact or a warning before it loses what makes it one', () => {
    const many = Array.from({ length: 2_000 }, (_, index) => index);
    const marker = { elided: true, bytes: jsonBytes({ many }), cap_bytes: 1_000 };
    const artifact = { kind: 'model', path: 'models/a.safetensors', meta: { many }, node_id: 'n' };
    expect(capPayload(artifact, 1_000)).toEqual({ ...artifact, meta: marker });
    const warning = { kind: 'odd', detail: 'x'.repeat(2_000), code: 'odd', params: { many } };
    const capped = capPayload(warning, 1_000);
    expect(capped).toEqual({ ...warning, detail: expect.stringMatching(/^x+\.\.\. \[truncated\]$/), params: marker });
    expect(capPayload(capped, 1_000)).toBe(capped);
  });

  it('keeps what identifies the event when nothing else fits', () => {
    const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`key${index}`, index]));
    const payload = { node_id: 'n', status: 'error', error: 'it broke', outputs: [], many };
    expect(capPayload(payload, 1_000)).toEqual({
      elided: true,
      bytes: jsonBytes(payload),
      cap_bytes: 1_000,
      node_id: 'n',
      status: 'error',
      error: 'it broke',
    });
  });

  it('fits any payload, keeps an error’s beginning, and changes nothing the second time', () => {
    const output = fc.record({
      output_kind: fc.constant('progress'),
      progress: fc.dictionary(fc.string(), fc.jsonValue()),
    });
    const payload = fc.record({
      node_id: fc.string({ maxLength: 20 }),
      status: fc.constant('error'),
      error: fc.string({ minLength: 1, maxLength: 3_000, unit: 'binary' }),
      outputs: fc.array(output, { maxLength: 4 }),
      detail: fc.jsonValue({ maxDepth: 4 }),
    });
    fc.assert(
      fc.property(payload, fc.integer({ min: 600, max: 4_000 }), (value, cap) => {
        const capped = capPayload(value, cap);
        expect(jsonBytes(capped)).toBeLessThanOrEqual(cap);
        expect(capped.node_id).toBe(value.node_id);
        expect(typeof capped.error).toBe('string');
        expect(value.error.startsWith(capped.error.replace(/\.\.\. \[truncated\]$/, ''))).toBe(true);
        expect(capPayload(capped, cap)).toEqual(capped);
        expect(capPayloadText(value, cap)).toBe(JSON.stringify(capped));
      }),
    );
  });
});
