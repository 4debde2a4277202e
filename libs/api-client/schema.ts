// Generated from openapi.json by `node tools/openapi.mjs`.

export interface paths {
  '/api/auth/bootstrap': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The session token
     * @description For pages of this server only; new at every start.
     */
    get: operations['auth_bootstrap'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/system/devices': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Where runs can compute on this machine */
    get: operations['devices_list'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/examples/list': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** The example graphs of this program */
    get: operations['examples_list'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/examples/load': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** One of them */
    get: operations['examples_load'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/graph/validate': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Check a graph
     * @description The whole of it, drafts included. What is wrong is the answer, not an error.
     */
    post: operations['graphs_validate'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/graph/save': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Save a graph
     * @description Secret params are saved blank. 409 `graph_exists` unless `overwrite` is true.
     */
    post: operations['graphs_save'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/graph/list': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** The saved graphs */
    get: operations['graphs_list'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/graph/load/{name}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** One saved graph */
    get: operations['graphs_load'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/graph/rename': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Rename a graph */
    post: operations['graphs_rename'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/graph/{name}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    /** Delete a graph */
    delete: operations['graphs_delete'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/health': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** How the server is */
    get: operations['health_read'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/health/live': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Liveness
     * @description Answers as long as the event loop turns.
     */
    get: operations['health_live'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/health/ready': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Readiness
     * @description 503 while the node catalogue or the database does not answer, after a write that the database could not take (a full disk) until one succeeds, or while the server stops.
     */
    get: operations['health_ready'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/nodes': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Every node type */
    get: operations['nodes_list'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/nodes/reload': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Load the folders of custom nodes and presets again */
    post: operations['nodes_reload'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/nodes/{name}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** One node type */
    get: operations['nodes_one'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/presets': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Every preset */
    get: operations['presets_list'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/presets/{name}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** One preset */
    get: operations['presets_one'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/workers': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List workers
     * @description Those that are away are listed as well.
     */
    get: operations['workers_list'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/workers/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** One worker */
    get: operations['workers_get'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/workers/{id}/history': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The last hour of a worker’s devices
     * @description One sample a minute, from the time on when the server heard of the worker.
     */
    get: operations['workers_history'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/workers/{id}/drain': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Drain a worker
     * @description It takes no new runs; those that it has go on, and those that wait for it wait. This holds until it is undrained, or its agent connects anew.
     */
    post: operations['workers_drain'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/workers/{id}/undrain': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Let a drained worker take new runs again
     * @description An agent that is about to end (`cdui agent stop --drain`) goes on refusing them.
     */
    post: operations['workers_undrain'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/runs': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List runs
     * @description Newest first unless another order is asked for.
     */
    get: operations['runs_list'];
    put?: never;
    /**
     * Submit a run
     * @description When this answers, the run is stored: it will be executed, or end with a reason.
     */
    post: operations['runs_submit'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/runs/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** One run, with its graph */
    get: operations['runs_get'];
    put?: never;
    post?: never;
    /**
     * Delete an ended run
     * @description 409 `run_active` while it has not ended.
     */
    delete: operations['runs_delete'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/runs/{id}/cancel': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Stop a run
     * @description A waiting run is cancelled at once; a running one stops at its next safe point. Asking again does no harm.
     */
    post: operations['runs_cancel'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/runs/{id}/retry': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Run it again
     * @description A new run with the same graph and options. 409 `secrets_needed` when the graph had secrets.
     */
    post: operations['runs_retry'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/runs/{id}/move': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Move a waiting run within its queue
     * @description It gets the priority of the run that it then stands before. 409 `run_not_waiting` when one of the two does not wait, `run_in_other_queue` when they wait apart.
     */
    post: operations['runs_move'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/runs/{id}/events': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The events of a run after a cursor
     * @description Answers at once when there are any, else when one comes or after `wait` seconds. A page holds at most `limit` events, and fewer when they are large. A run that is not `active` and has no events after the cursor has no more to say.
     */
    get: operations['events_read'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/runs/{id}/metrics': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The metrics of a run
     * @description In the order of recording, as JSON or as a CSV file.
     */
    get: operations['metrics_read'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/runs/{id}/artifacts': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** The files that a run left */
    get: operations['artifacts_list'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/runs/{id}/artifacts/{artifactId}/download': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Download one of them
     * @description Wants the session token, in its header or as the query parameter `token`. `Range` works.
     */
    get: operations['artifacts_download'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/runs/{id}/log': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * What a run printed
     * @description Bytes of its standard output and error from `offset` on. The answer is empty when there are none, after `wait` seconds at most. `Range` works as well, instead of `offset` and `limit`. A very long log keeps its beginning and its end: headers say where the answer stands.
     */
    get: operations['log_read'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/runs/{id}/log/search': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Lines of what a run printed that hold a text */
    get: operations['log_search'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    Bootstrap: {
      /** @description Goes into the header X-CodefyUI-Token of requests that change something. */
      token: string;
    };
    Device: {
      /** @example cpu */
      value: string;
      label: string;
      detail: string;
      available: boolean;
    };
    Devices: {
      /** @description What a run uses whose graph and options name none. */
      default: string;
      devices: components['schemas']['Device'][];
    };
    ExampleDto: {
      name: string;
      description: string;
      /** @description The folder it lies in; empty for the folder of examples itself. */
      category: string;
      /** @description What `load` takes. */
      path: string;
      /** @enum {string} */
      source: 'builtin';
      node_count: number;
      edge_count: number;
    };
    ErrorDetailDto: {
      /**
       * @description For programs.
       * @example run_not_found
       */
      code: string;
      /** @description For people, in English. */
      message: string;
      /** @description The values that the message speaks of. */
      details: {
        [key: string]: unknown;
      };
    };
    ErrorDto: {
      detail: components['schemas']['ErrorDetailDto'];
    };
    FieldProblemDto: {
      /** @description Where the field is: `body` or `query`, then its path. */
      loc: (string | number)[];
      msg: string;
      type: string;
    };
    ShapeErrorDto: {
      detail: components['schemas']['FieldProblemDto'][];
    };
    GuardErrorDto: {
      detail: string;
    };
    GraphBody: {
      /** @description A graph file. It may be the whole body as well. */
      graph: {
        [key: string]: unknown;
      };
    };
    /** @enum {string} */
    IssueCode:
      | 'not_a_graph'
      | 'unknown_node_type'
      | 'node_not_available'
      | 'option_not_available'
      | 'unknown_preset'
      | 'unknown_subgraph'
      | 'malformed_subgraph'
      | 'malformed_preset'
      | 'malformed_node'
      | 'malformed_edge'
      | 'missing_input'
      | 'param_below_min'
      | 'param_above_max'
      | 'param_not_comparable'
      | 'invalid_param'
      | 'edge_missing_node'
      | 'unknown_output_port'
      | 'unknown_input_port'
      | 'unknown_boundary_port'
      | 'unknown_trigger_target'
      | 'empty_trigger_block'
      | 'type_mismatch'
      | 'no_entry_points'
      | 'cycle'
      | 'preset_too_deep'
      | 'subgraph_recursion'
      | 'subgraph_too_deep'
      | 'duplicate_node_id'
      | 'bypass_not_allowed'
      | 'bypass_no_match'
      | 'invalid_settings'
      | 'invalid_layers'
      | 'invalid_contract'
      | 'duplicate_input_edge'
      | 'unsupported_format_version'
      | 'graph_too_large'
      | 'unknown_node'
      | 'invalid_input';
    GraphIssueDto: {
      message: string;
      code: components['schemas']['IssueCode'];
      /** @description Null when it belongs to no single node. */
      node_id: string | null;
      params: {
        [key: string]: unknown;
      };
    };
    ValidationDto: {
      valid: boolean;
      /** @description The messages of the issues. */
      errors: string[];
      issues: components['schemas']['GraphIssueDto'][];
      warnings: components['schemas']['GraphIssueDto'][];
    };
    SaveBody: {
      /** @description A graph file. It may be the whole body as well. */
      graph: {
        [key: string]: unknown;
      };
      /** @description The graph’s own name, when it is left out. */
      name?: string;
      /**
       * @description Whether it may take the place of another graph.
       * @default false
       */
      overwrite?: boolean;
    };
    SaveResultDto: {
      name: string;
      /** @description In the folder of graphs. */
      file: string;
      /** Format: date-time */
      modified: string;
      message: string;
      /** @description The file’s full path on the server. */
      path: string;
    };
    ListedGraphDto: {
      name: string;
      /** @description In the folder of graphs. */
      file: string;
      /** Format: date-time */
      modified: string;
      /** @description Why it cannot be loaded, when it cannot. */
      problem: string | null;
    };
    RenameBody: {
      from: string;
      to: string;
      /** @default false */
      overwrite?: boolean;
    };
    GraphDeletedDto: {
      name: string;
      /** @enum {boolean} */
      deleted: true;
    };
    Health: {
      /** @enum {string} */
      status: 'ok' | 'stopping';
      version: string;
      /** @description New at each start of the server. */
      boot_id: string;
      nodes_loaded: number;
      presets_loaded: number;
      /** @description Files of the custom-node folder that cannot be used. */
      broken_nodes: number;
    };
    Alive: {
      /** @enum {string} */
      status: 'ok';
    };
    /** @enum {string} */
    PortType:
      | 'TENSOR'
      | 'MODEL'
      | 'DATASET'
      | 'DATALOADER'
      | 'OPTIMIZER'
      | 'LOSS_FN'
      | 'SCALAR'
      | 'STRING'
      | 'IMAGE'
      | 'LIST'
      | 'ANY'
      | 'TRIGGER'
      | 'TRANSFORM';
    PortDto: {
      name: string;
      data_type: components['schemas']['PortType'];
      description: string;
      /** @description Whether the node runs without it. */
      optional: boolean;
    };
    /** @enum {string} */
    ParamType:
      | 'int'
      | 'float'
      | 'string'
      | 'bool'
      | 'select'
      | 'model_file'
      | 'image_file'
      | 'data_file'
      | 'tensor_grid'
      | 'secret';
    ParamDto: {
      name: string;
      param_type: components['schemas']['ParamType'];
      /** @description Any JSON value. */
      default: Record<string, never>;
      description: string;
      options: string[];
      min_value: number | null;
      max_value: number | null;
      /** @description The values of a sibling for which the param is shown. */
      visible_when: {
        [key: string]: unknown;
      } | null;
      advanced: boolean;
    };
    NodeDto: {
      node_name: string;
      category: string;
      description: string;
      inputs: components['schemas']['PortDto'][];
      outputs: components['schemas']['PortDto'][];
      params: components['schemas']['ParamDto'][];
      /** @description `builtin`, or the file it comes from. */
      provider: string;
    };
    BrokenFileDto: {
      file: string;
      message: string;
    };
    ReloadedDto: {
      nodes_loaded: number;
      presets_loaded: number;
      /** @description Differs when any definition does. */
      catalog_hash: string;
      /** @description Files that could not be used. */
      broken: components['schemas']['BrokenFileDto'][];
    };
    PresetDto: {
      preset_name: string;
      category?: string;
      description?: string;
      tags?: string[];
      nodes: {
        [key: string]: unknown;
      }[];
      edges: {
        [key: string]: unknown;
      }[];
      exposed_inputs: {
        [key: string]: unknown;
      }[];
      exposed_outputs: {
        [key: string]: unknown;
      }[];
      exposed_params: {
        [key: string]: unknown;
      }[];
    };
    /** @enum {string} */
    WorkerKind: 'session' | 'enrolled' | 'one_shot';
    /** @enum {string} */
    WorkerStatus: 'online' | 'offline' | 'disconnected';
    SlotUsageDto: {
      limit: number;
      used: number;
      /** @description Whose limit applies, when it is another offerer’s of the same card. */
      limited_by: string | null;
    };
    WorkerSlotDto: {
      worker: string;
      device: string;
    };
    WorkerDeviceDto: {
      /** @example cuda:0 */
      device: string;
      name: string;
      uuid: string | null;
      /** @description Bytes; null where the system does not tell. */
      total_bytes: number | null;
      /** @description Bytes; null where the system does not tell. */
      free_bytes: number | null;
      /** @description 0 to 100. */
      utilization: number | null;
      /** @description Whether it admits runs by their memory. */
      shared_by_memory: boolean;
      slots: components['schemas']['SlotUsageDto'];
      /** @description The other slots that are this physical device. */
      same_card: components['schemas']['WorkerSlotDto'][];
    };
    RejectDto: {
      code: string;
      reason: string;
      params: {
        [key: string]: unknown;
      };
    };
    WorkerRowDto: {
      id: string;
      name: string;
      kind: components['schemas']['WorkerKind'];
      status: components['schemas']['WorkerStatus'];
      /** @description It takes no new runs; those it has go on. */
      draining: boolean;
      /** @description Whether its node types differ from the server’s. */
      degraded: boolean;
      missing_types: string[];
      extra_types: string[];
      changed_types: string[];
      version: string | null;
      protocol_version: number | null;
      platform: string | null;
      capabilities: string[];
      devices: components['schemas']['WorkerDeviceDto'][];
      mounts: string[];
      /** @description Ids of the runs that it has. */
      running: string[];
      fingerprint_digest: string | null;
      catalog_hash: string | null;
      /** Format: date-time */
      connected_at: string | null;
      /** Format: date-time */
      last_seen_at: string | null;
      last_reject: (components['schemas']['RejectDto'] | null) & components['schemas']['RejectDto'];
      address: string | null;
    };
    RejectedNameDto: {
      code: string;
      reason: string;
      params: {
        [key: string]: unknown;
      };
      name: string;
    };
    WorkerListDto: {
      workers: components['schemas']['WorkerRowDto'][];
      /** @description The last refusal of each name that is no worker’s. */
      rejected: components['schemas']['RejectedNameDto'][];
    };
    DeviceSampleDto: {
      /** Format: date-time */
      at: string;
      /** @description Bytes; null where the system does not tell. */
      free_bytes: number | null;
      /** @description 0 to 100. */
      utilization: number | null;
    };
    DeviceHistoryDto: {
      device: string;
      samples: components['schemas']['DeviceSampleDto'][];
    };
    WorkerHistoryDto: {
      id: string;
      devices: components['schemas']['DeviceHistoryDto'][];
    };
    TargetDto: {
      /** @description `local`, `any`, or the name of a worker. */
      worker?: string;
      /**
       * @example [
       *       "cpu"
       *     ]
       */
      devices?: string[];
      /** @enum {string} */
      pool?: 'one-shot';
      memory_gib?: number;
      /** @enum {string} */
      memory_source?: 'user' | 'suggested';
      /** @default true */
      wait?: boolean;
    };
    RunOptionsDto: {
      /** @description `auto` means cpu. */
      device?: string;
      seed?: number | null;
      /** @default false */
      deterministic?: boolean;
      /** @default false */
      record_outputs?: boolean;
      /**
       * @description `queued`, or `interactive`: the lane of the canvas.
       * @default queued
       */
      lane?: string;
      /** @default false */
      verbose?: boolean;
      /** @default false */
      backward_mode?: boolean;
      /** @default false */
      auto_backward?: boolean;
      /** @default false */
      weights_persistent?: boolean;
      /**
       * @description Names the persistent weights.
       * @default
       */
      graph_id?: string;
      /**
       * @default fail_fast
       * @enum {string}
       */
      error_mode?: 'fail_fast' | 'continue' | 'retry';
      /** @default 0 */
      max_retries?: number;
      /**
       * @description Of the runs in a queue those with a higher number start first.
       * @default 0
       */
      priority?: number;
      target?: components['schemas']['TargetDto'];
      /**
       * @description Records where the outputs of each node come from.
       * @default false
       */
      provenance?: boolean;
    };
    SubmissionDto: {
      /** @description A graph file with at least one node. */
      graph: {
        [key: string]: unknown;
      };
      /** @description Unknown options are refused. */
      options?: components['schemas']['RunOptionsDto'];
      /** @description The graph’s own name, when it is left out. */
      name?: string;
    };
    /** @enum {string} */
    RunStatus: 'queued' | 'running' | 'disconnected' | 'succeeded' | 'failed' | 'cancelled' | 'interrupted';
    RunSubmittedDto: {
      run_id: string;
      status: components['schemas']['RunStatus'];
    };
    FinalMetricDto: {
      node_id: string;
      name: string;
      step: number;
      /** @description Null when the value was not finite. */
      value: number | null;
    };
    RunRowDto: {
      /** @description 32 hexadecimal digits. */
      id: string;
      name: string;
      /** @description As submitted, with the defaults filled in. */
      options: {
        [key: string]: unknown;
      };
      status: components['schemas']['RunStatus'];
      error: string | null;
      queue_key: string;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      started_at: string | null;
      /** Format: date-time */
      finished_at: string | null;
      git_commit: string | null;
      git_dirty: boolean | null;
      plugin_pins: {
        [key: string]: string;
      } | null;
      sweep_id: string | null;
      sweep_variant: number | null;
      /** @description The run of which this one is a repetition. */
      retry_of: string | null;
      worker_id: string | null;
      devices: string[] | null;
      execution_facts: {
        [key: string]: unknown;
      } | null;
      fingerprint_digest: string | null;
      /** @description From 1, among the runs with its queue key. */
      queue_position: number | null;
      /** @description Why it waits, when it is for more than a busy slot. */
      queue_reason: string | null;
      queue_reason_code: string | null;
      queue_reason_params: {
        [key: string]: unknown;
      } | null;
      /** @description Whether the server still works on it. */
      active: boolean;
      /** @description The last value of each metric. */
      final_metrics: components['schemas']['FinalMetricDto'][];
    };
    RunListDto: {
      runs: components['schemas']['RunRowDto'][];
      /** @description How many runs match, on all pages. */
      total: number;
      limit: number;
      offset: number;
    };
    RunDetailDto: {
      /** @description 32 hexadecimal digits. */
      id: string;
      name: string;
      /** @description As submitted, with the defaults filled in. */
      options: {
        [key: string]: unknown;
      };
      status: components['schemas']['RunStatus'];
      error: string | null;
      queue_key: string;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      started_at: string | null;
      /** Format: date-time */
      finished_at: string | null;
      git_commit: string | null;
      git_dirty: boolean | null;
      plugin_pins: {
        [key: string]: string;
      } | null;
      sweep_id: string | null;
      sweep_variant: number | null;
      /** @description The run of which this one is a repetition. */
      retry_of: string | null;
      worker_id: string | null;
      devices: string[] | null;
      execution_facts: {
        [key: string]: unknown;
      } | null;
      fingerprint_digest: string | null;
      /** @description From 1, among the runs with its queue key. */
      queue_position: number | null;
      /** @description Why it waits, when it is for more than a busy slot. */
      queue_reason: string | null;
      queue_reason_code: string | null;
      queue_reason_params: {
        [key: string]: unknown;
      } | null;
      /** @description Whether the server still works on it. */
      active: boolean;
      /** @description The last value of each metric. */
      final_metrics: components['schemas']['FinalMetricDto'][];
      /** @description The graph file as submitted, secret parameters blank. */
      graph: {
        [key: string]: unknown;
      };
      /** @description The cursor of the newest event; 0 when there is none. */
      last_cursor: number;
    };
    RunCancelledDto: {
      run_id: string;
      status: components['schemas']['RunStatus'];
      /** @description Whether this request is why it stops. */
      cancelled: boolean;
    };
    MoveDto: {
      /** @description The id of the run in the same queue that it shall stand before, or a position in the queue. */
      before: string | number;
    };
    RunMovedDto: {
      run_id: string;
      /** @description From 1; null when it has just begun to execute. */
      queue_position: number | null;
    };
    RunDeletedDto: {
      run_id: string;
      /** @enum {boolean} */
      deleted: true;
    };
    RunEventDto: {
      /** @description From 1, without gaps. */
      cursor: number;
      /** @example node_status */
      type: string;
      payload: {
        [key: string]: unknown;
      } | null;
      /** Format: date-time */
      ts: string;
    };
    RunEventsDto: {
      run_id: string;
      status: components['schemas']['RunStatus'];
      active: boolean;
      events: components['schemas']['RunEventDto'][];
      /** @description Where to go on reading. */
      cursor: number;
    };
    ArtifactDto: {
      id: string;
      kind: string;
      path: string;
      meta: {
        [key: string]: unknown;
      };
      node_id: string;
      /** @enum {string} */
      backend: 'local' | 'mount' | 'transfer' | 's3';
      mount_label: string | null;
      /** Format: date-time */
      created_at: string;
    };
    RunArtifactsDto: {
      run_id: string;
      artifacts: components['schemas']['ArtifactDto'][];
    };
    LogMatchDto: {
      /** @description Byte offset of the line. */
      offset: number;
      /** @description From 1. */
      line: number;
      text: string;
    };
    LogSearchDto: {
      run_id: string;
      matches: components['schemas']['LogMatchDto'][];
      /** @description Whether there are more than were asked for. */
      truncated: boolean;
    };
    MetricDto: {
      node_id: string;
      name: string;
      step: number;
      /** @description Null when the value was not finite. */
      value: number | null;
      /** Format: date-time */
      ts: string;
    };
    RunMetricsDto: {
      run_id: string;
      names: string[];
      metrics: components['schemas']['MetricDto'][];
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  auth_bootstrap: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Bootstrap'];
        };
      };
    };
  };
  devices_list: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Devices'];
        };
      };
    };
  };
  examples_list: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ExampleDto'][];
        };
      };
    };
  };
  examples_load: {
    parameters: {
      query: {
        path: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            [key: string]: unknown;
          };
        };
      };
      /** @description There is none */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
      /** @description The form of the request is wrong */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ShapeErrorDto'];
        };
      };
    };
  };
  graphs_validate: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['GraphBody'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ValidationDto'];
        };
      };
      /** @description Without the session token */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['GuardErrorDto'];
        };
      };
      /** @description The body is too large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['GuardErrorDto'];
        };
      };
      /** @description The form of the request is wrong */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ShapeErrorDto'];
        };
      };
    };
  };
  graphs_save: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['SaveBody'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SaveResultDto'];
        };
      };
      /** @description It can never be done as asked */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
      /** @description Without the session token */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['GuardErrorDto'];
        };
      };
      /** @description Not in its present state */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
      /** @description The body is too large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['GuardErrorDto'];
        };
      };
      /** @description The form of the request is wrong */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ShapeErrorDto'];
        };
      };
      /** @description It cannot be stored, or the server stops */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
    };
  };
  graphs_list: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ListedGraphDto'][];
        };
      };
      /** @description It cannot be stored, or the server stops */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
    };
  };
  graphs_load: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The graph’s name. */
        name: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            [key: string]: unknown;
          };
        };
      };
      /** @description It can never be done as asked */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
      /** @description There is none */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
      /** @description It cannot be stored, or the server stops */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
    };
  };
  graphs_rename: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['RenameBody'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SaveResultDto'];
        };
      };
      /** @description It can never be done as asked */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
      /** @description Without the session token */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['GuardErrorDto'];
        };
      };
      /** @description There is none */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
      /** @description Not in its present state */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
      /** @description The body is too large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['GuardErrorDto'];
        };
      };
      /** @description The form of the request is wrong */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ShapeErrorDto'];
        };
      };
      /** @description It cannot be stored, or the server stops */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
    };
  };
  graphs_delete: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The graph’s name. */
        name: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['GraphDeletedDto'];
        };
      };
      /** @description It can never be done as asked */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
      /** @description Without the session token */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['GuardErrorDto'];
        };
      };
      /** @description There is none */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
      /** @description It cannot be stored, or the server stops */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
    };
  };
  health_read: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Health'];
        };
      };
    };
  };
  health_live: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Alive'];
        };
      };
    };
  };
  health_ready: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Alive'];
        };
      };
      /** @description It cannot be stored, or the server stops */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
    };
  };
  nodes_list: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['NodeDto'][];
        };
      };
    };
  };
  nodes_reload: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ReloadedDto'];
        };
      };
      /** @description Without the session token */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['GuardErrorDto'];
        };
      };
    };
  };
  nodes_one: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The node type. */
        name: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['NodeDto'];
        };
      };
      /** @description There is none */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
    };
  };
  presets_list: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PresetDto'][];
        };
      };
    };
  };
  presets_one: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The preset’s name. */
        name: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PresetDto'];
        };
      };
      /** @description There is none */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
    };
  };
  workers_list: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['WorkerListDto'];
        };
      };
    };
  };
  workers_get: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The worker’s id, which is its name. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['WorkerRowDto'];
        };
      };
      /** @description There is none */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
    };
  };
  workers_history: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The worker’s id, which is its name. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['WorkerHistoryDto'];
        };
      };
      /** @description There is none */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
    };
  };
  workers_drain: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The worker’s id, which is its name. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['WorkerRowDto'];
        };
      };
      /** @description Without the session token */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['GuardErrorDto'];
        };
      };
      /** @description There is none */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
    };
  };
  workers_undrain: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The worker’s id, which is its name. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['WorkerRowDto'];
        };
      };
      /** @description Without the session token */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['GuardErrorDto'];
        };
      };
      /** @description There is none */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
    };
  };
  runs_list: {
    parameters: {
      query?: {
        /** @description May be given more than once. */
        status?: components['schemas']['RunStatus'][];
        /** @description Part of the name or of the id. */
        q?: string;
        worker?: string;
        sweep_id?: string;
        sort?: 'created_at' | 'started_at' | 'finished_at' | 'name' | 'status';
        order?: 'asc' | 'desc';
        limit?: number;
        offset?: number;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RunListDto'];
        };
      };
      /** @description The form of the request is wrong */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ShapeErrorDto'];
        };
      };
    };
  };
  runs_submit: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['SubmissionDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RunSubmittedDto'];
        };
      };
      /** @description It can never be done as asked */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
      /** @description Without the session token */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['GuardErrorDto'];
        };
      };
      /** @description The body is too large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['GuardErrorDto'];
        };
      };
      /** @description The form of the request is wrong */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ShapeErrorDto'];
        };
      };
      /** @description It cannot be stored, or the server stops */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
    };
  };
  runs_get: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The run’s id: 32 hexadecimal digits. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RunDetailDto'];
        };
      };
      /** @description There is none */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
    };
  };
  runs_delete: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The run’s id: 32 hexadecimal digits. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RunDeletedDto'];
        };
      };
      /** @description Without the session token */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['GuardErrorDto'];
        };
      };
      /** @description There is none */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
      /** @description Not in its present state */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
      /** @description It cannot be stored, or the server stops */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
    };
  };
  runs_cancel: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The run’s id: 32 hexadecimal digits. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RunCancelledDto'];
        };
      };
      /** @description Without the session token */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['GuardErrorDto'];
        };
      };
      /** @description There is none */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
      /** @description It cannot be stored, or the server stops */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
    };
  };
  runs_retry: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The run’s id: 32 hexadecimal digits. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RunSubmittedDto'];
        };
      };
      /** @description It can never be done as asked */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
      /** @description Without the session token */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['GuardErrorDto'];
        };
      };
      /** @description There is none */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
      /** @description Not in its present state */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
      /** @description It cannot be stored, or the server stops */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
    };
  };
  runs_move: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The run’s id: 32 hexadecimal digits. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['MoveDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RunMovedDto'];
        };
      };
      /** @description Without the session token */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['GuardErrorDto'];
        };
      };
      /** @description There is none */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
      /** @description Not in its present state */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
      /** @description The body is too large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['GuardErrorDto'];
        };
      };
      /** @description The form of the request is wrong */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ShapeErrorDto'];
        };
      };
    };
  };
  events_read: {
    parameters: {
      query?: {
        /** @description Events after this one. */
        cursor?: number;
        /** @description Seconds to wait for the first event. */
        wait?: number;
        limit?: number;
      };
      header?: never;
      path: {
        /** @description The run’s id: 32 hexadecimal digits. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RunEventsDto'];
        };
      };
      /** @description There is none */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
      /** @description The form of the request is wrong */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ShapeErrorDto'];
        };
      };
    };
  };
  metrics_read: {
    parameters: {
      query?: {
        /** @description One metric only. */
        name?: string;
        format?: 'json' | 'csv';
      };
      header?: never;
      path: {
        /** @description The run’s id: 32 hexadecimal digits. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description As JSON, or as UTF-8 with the columns run_id, node_id, name, step, value, ts */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RunMetricsDto'];
          'text/csv': string;
        };
      };
      /** @description There is none */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
      /** @description The form of the request is wrong */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ShapeErrorDto'];
        };
      };
    };
  };
  artifacts_list: {
    parameters: {
      query?: {
        /** @description One kind only. */
        kind?: string;
      };
      header?: never;
      path: {
        /** @description The run’s id: 32 hexadecimal digits. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RunArtifactsDto'];
        };
      };
      /** @description There is none */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
      /** @description The form of the request is wrong */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ShapeErrorDto'];
        };
      };
    };
  };
  artifacts_download: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The run’s id: 32 hexadecimal digits. */
        id: string;
        artifactId: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/octet-stream': string;
        };
      };
      /** @description The part that `Range` asks for */
      206: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description Without the session token */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/octet-stream': components['schemas']['GuardErrorDto'];
        };
      };
      /** @description There is none */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/octet-stream': components['schemas']['ErrorDto'];
        };
      };
    };
  };
  log_read: {
    parameters: {
      query?: {
        /** @description In bytes, from the start. */
        offset?: number;
        /** @description In bytes. */
        limit?: number;
        /** @description Seconds to wait for a byte beyond the offset. */
        wait?: number;
      };
      header?: {
        /** @description One range of bytes. */
        Range?: string;
      };
      path: {
        /** @description The run’s id: 32 hexadecimal digits. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          /** @description Where the first byte stands. */
          'X-Log-Offset'?: number;
          /** @description Where to go on reading. */
          'X-Log-Next'?: number;
          /** @description How much was printed so far. */
          'X-Log-Size'?: number;
          'X-Run-Status'?: string;
          'X-Run-Active'?: 'true' | 'false';
          [name: string]: unknown;
        };
        content: {
          'text/plain': string;
        };
      };
      /** @description The part that `Range` asks for */
      206: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description There is none */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'text/plain': components['schemas']['ErrorDto'];
        };
      };
      /** @description The log has no byte of that range */
      416: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description The form of the request is wrong */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'text/plain': components['schemas']['ShapeErrorDto'];
        };
      };
    };
  };
  log_search: {
    parameters: {
      query?: {
        q?: string;
        limit?: number;
      };
      header?: never;
      path: {
        /** @description The run’s id: 32 hexadecimal digits. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['LogSearchDto'];
        };
      };
      /** @description There is none */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorDto'];
        };
      };
      /** @description The form of the request is wrong */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ShapeErrorDto'];
        };
      };
    };
  };
}
