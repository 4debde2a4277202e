/**
 * A writer for the few protobuf messages an ONNX model needs; field numbers are those of `onnx.proto`.
 * One growing buffer: a sub-message gets a reserved length of five bytes that is filled in afterwards, so nothing is encoded twice.
 */
export class ProtoWriter {
  private bytesOut: Uint8Array<ArrayBuffer>;
  private view: DataView;
  private at = 0;

  constructor(capacity = 1 << 14) {
    this.bytesOut = new Uint8Array(capacity);
    this.view = new DataView(this.bytesOut.buffer);
  }

  /** A varint field; negative numbers take ten bytes, as protobuf's int64 does. */
  int(field: number, value: number): void {
    this.tag(field, 0);
    this.varint(value);
  }

  float(field: number, value: number): void {
    this.tag(field, 5);
    this.reserve(4);
    this.view.setFloat32(this.at, value, true);
    this.at += 4;
  }

  string(field: number, value: string): void {
    this.bytes(field, Buffer.from(value, 'utf8'));
  }

  bytes(field: number, data: ArrayBufferView): void {
    this.tag(field, 2);
    this.varint(data.byteLength);
    this.reserve(data.byteLength);
    this.bytesOut.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), this.at);
    this.at += data.byteLength;
  }

  message(field: number, body: () => void): void {
    this.tag(field, 2);
    this.reserve(5);
    const lengthAt = this.at;
    this.at += 5;
    body();
    let length = this.at - lengthAt - 5;
    for (let i = 0; i < 4; i++) {
      this.bytesOut[lengthAt + i] = (length & 127) | 128;
      length = Math.floor(length / 128);
    }
    this.bytesOut[lengthAt + 4] = length;
  }

  finish(): Uint8Array {
    return this.bytesOut.slice(0, this.at);
  }

  private tag(field: number, wireType: number): void {
    this.varint(field * 8 + wireType);
  }

  private varint(value: number): void {
    this.reserve(10);
    if (value < 0) {
      let rest = BigInt.asUintN(64, BigInt(value));
      for (; rest > 127n; rest >>= 7n) this.bytesOut[this.at++] = Number(rest & 127n) | 128;
      this.bytesOut[this.at++] = Number(rest);
      return;
    }
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128)) this.bytesOut[this.at++] = (rest & 127) | 128;
    this.bytesOut[this.at++] = rest;
  }

  private reserve(count: number): void {
    const wanted = this.at + count;
    if (wanted <= this.bytesOut.length) return;
    const grown = new Uint8Array(Math.max(wanted, this.bytesOut.length * 2));
    grown.set(this.bytesOut.subarray(0, this.at));
    this.bytesOut = grown;
    this.view = new DataView(grown.buffer);
  }
}

/** ONNX's element types by our names. */
export const ONNX_DTYPES = {
  float32: 1,
  uint8: 2,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
  float64: 11,
} as const;
export type OnnxDType = keyof typeof ONNX_DTYPES;

export interface TensorProto {
  readonly name: string;
  readonly dtype: OnnxDType;
  readonly shape: readonly number[];
  readonly data: ArrayBufferView;
}

/** Integers and floats are told apart by `{ float }`, because both are JavaScript numbers. */
export type AttributeProto = number | string | readonly number[] | { readonly float: number };

export interface NodeProto {
  readonly type: string;
  readonly domain: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: Readonly<Record<string, AttributeProto>>;
}

export interface ValueProto {
  readonly name: string;
  readonly dtype: OnnxDType;
  readonly shape: readonly number[];
}

export interface ModelProto {
  readonly nodes: readonly NodeProto[];
  readonly initialisers: readonly TensorProto[];
  readonly inputs: readonly ValueProto[];
  readonly outputs: readonly ValueProto[];
}

const IR_VERSION = 9;
const OPSET = 20;

/** The model's bytes: IR 9, opset 20 and com.microsoft 1. */
export function writeModel(model: ModelProto): Uint8Array {
  const data = model.initialisers.reduce((sum, tensor) => sum + tensor.data.byteLength + 64, 0);
  const writer = new ProtoWriter(4096 + model.nodes.length * 128 + data);
  writer.int(1, IR_VERSION);
  writer.string(2, 'cdui');
  writer.message(7, () => writeGraph(writer, model));
  writeOpset(writer, '', OPSET);
  writeOpset(writer, 'com.microsoft', 1);
  return writer.finish();
}

function writeOpset(writer: ProtoWriter, domain: string, version: number): void {
  writer.message(8, () => {
    writer.string(1, domain);
    writer.int(2, version);
  });
}

function writeGraph(writer: ProtoWriter, model: ModelProto): void {
  for (const [i, node] of model.nodes.entries()) writer.message(1, () => writeNode(writer, node, `${node.type}_${i}`));
  writer.string(2, 'graph');
  for (const tensor of model.initialisers) writer.message(5, () => writeTensor(writer, tensor));
  for (const input of model.inputs) writer.message(11, () => writeValue(writer, input));
  for (const output of model.outputs) writer.message(12, () => writeValue(writer, output));
}

function writeNode(writer: ProtoWriter, node: NodeProto, name: string): void {
  for (const input of node.inputs) writer.string(1, input);
  for (const output of node.outputs) writer.string(2, output);
  writer.string(3, name);
  writer.string(4, node.type);
  for (const [key, value] of Object.entries(node.attributes))
    writer.message(5, () => writeAttribute(writer, key, value));
  if (node.domain) writer.string(7, node.domain);
}

const ATTRIBUTE_KIND = { float: 1, int: 2, string: 3, ints: 7 } as const;

function writeAttribute(writer: ProtoWriter, name: string, value: AttributeProto): void {
  writer.string(1, name);
  if (typeof value === 'number') {
    writer.int(3, value);
    writer.int(20, ATTRIBUTE_KIND.int);
  } else if (typeof value === 'string') {
    writer.string(4, value);
    writer.int(20, ATTRIBUTE_KIND.string);
  } else if ('float' in value) {
    writer.float(2, value.float);
    writer.int(20, ATTRIBUTE_KIND.float);
  } else {
    for (const item of value) writer.int(8, item);
    writer.int(20, ATTRIBUTE_KIND.ints);
  }
}

function writeTensor(writer: ProtoWriter, tensor: TensorProto): void {
  for (const size of tensor.shape) writer.int(1, size);
  writer.int(2, ONNX_DTYPES[tensor.dtype]);
  writer.string(8, tensor.name);
  writer.bytes(9, tensor.data);
}

function writeValue(writer: ProtoWriter, value: ValueProto): void {
  const dimension = (size: number) => writer.message(1, () => writer.int(1, size));
  writer.string(1, value.name);
  writer.message(2, () =>
    writer.message(1, () => {
      writer.int(1, ONNX_DTYPES[value.dtype]);
      writer.message(2, () => value.shape.forEach(dimension));
    }),
  );
}
