import { childEnvironment, deviceEnvironment } from './child-environment';
import { deviceView } from './device-view';

const options = { cookie: 'c0ffee', customNodes: '/nodes', presets: null };

describe('childEnvironment', () => {
  it('keeps what belongs to the system and to the user', () => {
    const agent = { PATH: '/bin', HOME: '/home/a', HF_TOKEN: 'theirs', LD_LIBRARY_PATH: '/cuda', NOTHING: undefined };
    expect(childEnvironment(agent, options)).toEqual({
      PATH: '/bin',
      HOME: '/home/a',
      HF_TOKEN: 'theirs',
      LD_LIBRARY_PATH: '/cuda',
      PYTORCH_ENABLE_MPS_FALLBACK: '1',
      CODEFYUI_CUSTOM_NODES_DIR: '/nodes',
      CODEFYUI_RUN_COOKIE: 'c0ffee',
    });
  });

  it('takes every setting away that a run does not read, known here or not', () => {
    const agent = {
      CODEFYUI_DB_PATH: '/db',
      CODEFYUI_USER_DATA_DIR: '/data',
      CODEFYUI_AGENT_TOKEN_FILE: '/token',
      CODEFYUI_S3_SECRET_KEY: 'canary',
      CODEFYUI_SOMETHING_OF_LATER: 'canary',
      CODEFYUI_RUN_COOKIE: 'of the run that started this agent',
      CODEFYUI_CUSTOM_NODES_DIR: '/of the server',
      CODEFYUI_DEBUG: '1',
      CODEFYUI_WORKER_NICE: '7',
      CODEFYUI_RUNTIME_PROVIDERS: '/torch.cjs',
    };
    const names = Object.keys(childEnvironment(agent, { ...options, customNodes: null }));
    expect(names.filter((name) => name.startsWith('CODEFYUI_')).sort()).toEqual([
      'CODEFYUI_DEBUG',
      'CODEFYUI_RUNTIME_PROVIDERS',
      'CODEFYUI_RUN_COOKIE',
      'CODEFYUI_WORKER_NICE',
    ]);
    expect(childEnvironment(agent, options)['CODEFYUI_RUN_COOKIE']).toBe('c0ffee');
  });

  it('takes away what is meant for the agent’s own process, and what else would hide cards', () => {
    const agent = {
      NODE_OPTIONS: '--inspect',
      NODE_CHANNEL_FD: '3',
      HIP_VISIBLE_DEVICES: '1',
      ROCR_VISIBLE_DEVICES: '',
    };
    expect(Object.keys(childEnvironment(agent, options))).toEqual([
      'PYTORCH_ENABLE_MPS_FALLBACK',
      'CODEFYUI_CUSTOM_NODES_DIR',
      'CODEFYUI_RUN_COOKIE',
    ]);
  });

  it('leaves a choice of the user about MPS alone', () => {
    const env = childEnvironment({ PYTORCH_ENABLE_MPS_FALLBACK: '0' }, options);
    expect(env['PYTORCH_ENABLE_MPS_FALLBACK']).toBe('0');
  });
});

describe('deviceEnvironment', () => {
  it('shows the cards of the run in their order, and none to a run without cards', () => {
    expect(deviceEnvironment(deviceView(['cuda:3', 'cuda:1']))).toEqual({
      CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
      CUDA_VISIBLE_DEVICES: '3,1',
    });
    expect(deviceEnvironment(deviceView(['cpu']))['CUDA_VISIBLE_DEVICES']).toBe('');
  });
});
