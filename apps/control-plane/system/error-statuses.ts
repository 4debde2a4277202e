/** The HTTP status of every error code that a request can meet. What is not listed, and is no `invalid_...`, is a defect: 500. */
const STATUSES: Readonly<Record<string, number>> = {
  bad_request: 400,
  target_unsupported: 400,
  worker_unknown: 400,
  device_not_offered: 400,
  worker_lacks_feature: 400,
  worker_missing_types: 400,
  worker_not_found: 404,
  device_unavailable: 400,
  unsupported_graph: 400,
  graph_too_large: 400,
  option_not_available: 400,
  unknown_option: 400,

  not_found: 404,
  run_not_found: 404,
  node_not_found: 404,
  preset_not_found: 404,
  graph_not_found: 404,
  example_not_found: 404,
  artifact_not_found: 404,
  artifact_gone: 404,
  outputs_not_found: 404,
  output_not_found: 404,

  method_not_allowed: 405,

  run_active: 409,
  run_not_waiting: 409,
  run_in_other_queue: 409,
  run_not_active: 409,
  secrets_needed: 409,
  graph_exists: 409,
  preset_exists: 409,
  preset_unusable: 409,
  memory_unavailable: 409,

  output_damaged: 410,

  slice_too_large: 413,

  unsupported_media_type: 415,

  invalid_body: 422,
  invalid_query: 422,

  interactive_limit: 503,
  server_draining: 503,
  storage_failed: 503,
  catalogue_failed: 503,
  catalogue_ended: 503,
  folder_not_made: 503,
  not_ready: 503,
};

/** The status of a coded error; 500 for a code that no request should meet. */
export function statusOf(code: string): number {
  return STATUSES[code] ?? (code.startsWith('invalid_') ? 400 : 500);
}

const CODES: Readonly<Record<number, string>> = {
  404: 'not_found',
  405: 'method_not_allowed',
  415: 'unsupported_media_type',
  503: 'not_ready',
};

/** The code of an error that has only a status. */
export function codeOf(status: number): string {
  return CODES[status] ?? 'bad_request';
}
