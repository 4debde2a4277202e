import { checkAgentFrame, checkServerFrame, PIPE_KINDS } from './index';
import { AGENT_FRAME_EXAMPLES, SERVER_FRAME_EXAMPLES } from './examples';

const agent = Object.entries(AGENT_FRAME_EXAMPLES);
const server = Object.entries(SERVER_FRAME_EXAMPLES);

describe('the examples of frames', () => {
  it.each(agent)('of %s passes the check of what an agent sends, whole', (type, example) => {
    expect(example.type).toBe(type);
    expect(checkAgentFrame(example)).toBe(example);
  });

  it.each(server)('of %s passes the check of what the control plane sends, whole', (type, example) => {
    expect(example.type).toBe(type);
    expect(checkServerFrame(example)).toBe(example);
  });

  it.each([...agent, ...server])('of %s survives JSON, and its type comes first', (_type, example) => {
    expect(JSON.parse(JSON.stringify(example))).toStrictEqual(example);
    expect(Object.keys(example)[0]).toBe('type');
  });

  it('hold one for each kind that comes through the pipe', () => {
    const kinds = PIPE_KINDS.filter((kind) => kind !== 'ready');
    expect(kinds.filter((kind) => !(kind in AGENT_FRAME_EXAMPLES))).toEqual([]);
  });

  it('of one direction are unknown to the other', () => {
    for (const [, example] of agent) expect(checkServerFrame(example)).toBeNull();
    for (const [, example] of server) expect(checkAgentFrame(example)).toBeNull();
  });
});
