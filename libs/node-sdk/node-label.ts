/** Which node an error is about. */
export interface NodeLabel {
  readonly id: string;
  readonly type: string;
}

/** `Conv2d "conv1"`, for error texts. */
export function describeNode(node: NodeLabel): string {
  return `${node.type} "${node.id}"`;
}
