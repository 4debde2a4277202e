import { ServerCards } from './server-cards';

const box = { id: 'box', devices: ['cpu', 'cuda:0'] };

describe('ServerCards', () => {
  it('asks nobody where no card could be shared', async () => {
    const cards = jest.fn(() => Promise.resolve({}));
    const bare = new ServerCards({ devices: ['cpu'], cards }, () => undefined);
    expect(bare.knowsOf(box, () => undefined)).toBe(true);
    await bare.learn();
    const carded = new ServerCards({ devices: ['cpu', 'cuda:0'], cards }, () => undefined);
    expect(carded.knowsOf({ id: 'plain', devices: ['cpu'] }, () => undefined)).toBe(true);
    expect(cards).not.toHaveBeenCalled();
  });

  it('asks once, and lets a worker with cards wait for the answer', async () => {
    const said: string[] = [];
    const cards = jest.fn(() => Promise.resolve({ 'cuda:0': 'card:GPU-1' }));
    const server = new ServerCards({ devices: ['cpu', 'cuda:0'], cards }, (identities) => {
      said.push(`learned ${identities['cuda:0']}`);
    });
    for (const name of ['first', 'second', 'second']) {
      expect(server.knowsOf({ ...box, id: name }, () => said.push(name))).toBe(false);
    }
    await server.learn();
    expect(said).toEqual(['learned card:GPU-1', 'first', 'second']);
    expect(server.knowsOf(box, () => said.push('late'))).toBe(true);
    expect(cards).toHaveBeenCalledTimes(1);
  });

  it('goes on without names when the machine does not tell', async () => {
    const server = new ServerCards(
      { devices: ['cuda:0'], cards: () => Promise.reject(new Error('no')) },
      () => undefined,
    );
    await server.learn();
    expect(server.knowsOf(box, () => undefined)).toBe(true);
  });
});
