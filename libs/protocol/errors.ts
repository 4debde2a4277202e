/** Values a reason code carries so that any language can word it. */
export type ReasonParams = Readonly<Record<string, unknown>>;

/** A machine-readable reason: the code, the values it needs, and its English wording. */
export interface Reason {
  readonly code: string;
  readonly params: ReasonParams;
  readonly message: string;
}

/**
 * An error whose message names the field, the value and the way out, with a code for programs.
 * Everything that can go wrong because of input throws one of these; anything else is a defect.
 */
export class CodedError extends Error {
  readonly code: string;
  readonly params: ReasonParams;

  constructor(code: string, message: string, params: ReasonParams = {}, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CodedError';
    this.code = code;
    this.params = params;
  }
}
