import type { InferenceSession } from 'onnxruntime-node';
import { Pool } from './sessions';

describe('a pool of sessions', () => {
  const released: string[] = [];
  const use = async (pool: Pool, key: string): Promise<'found' | 'made'> => {
    if (pool.find(key)) return 'found';
    await pool.makeRoom();
    const session = { release: async () => void released.push(key) } as Partial<InferenceSession> as InferenceSession;
    pool.add(key, { session, info: null });
    return 'made';
  };

  beforeEach(() => released.splice(0));

  it('releases the one used longest ago', async () => {
    const pool = new Pool({ kept: 2 });
    for (const key of ['a', 'b', 'a', 'c']) await use(pool, key);
    expect(released).toEqual(['b']);
    expect([await use(pool, 'a'), await use(pool, 'c'), await use(pool, 'b')]).toEqual(['found', 'found', 'made']);
  });

  it('does not let what is used once push out what is used again', async () => {
    const pool = new Pool({ kept: 3, trial: 2 });
    for (const key of ['hot', 'hot', 'warm', 'warm']) await use(pool, key);
    for (let i = 0; i < 100; i++) await use(pool, `once ${i}`);
    expect([await use(pool, 'hot'), await use(pool, 'warm')]).toEqual(['found', 'found']);
    expect(released).toHaveLength(98);
  });

  it('keeps a whole round of keys from the third round on, though more than the trial area holds', async () => {
    const pool = new Pool({ kept: 10, trial: 2 });
    const round = async () => {
      const made: string[] = [];
      for (let i = 0; i < 8; i++) made.push(await use(pool, `op ${i}`));
      return made;
    };
    await round();
    await round();
    expect(await round()).toEqual(new Array(8).fill('found'));
  });

  it('releases what is retired, and everything', async () => {
    const pool = new Pool({ kept: 8, trial: 4 });
    for (const key of ['x1', 'x2', 'y', 'x1']) await use(pool, key);
    await pool.retire((key) => key.startsWith('x'));
    expect(released.sort()).toEqual(['x1', 'x2']);
    expect(await use(pool, 'y')).toBe('found');
    await pool.retire(() => true);
    expect(await use(pool, 'y')).toBe('made');
  });
});
