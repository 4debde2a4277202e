import { homedir } from 'node:os';
import { join } from 'node:path';
import { chooseFolders } from './folders';

const choose = (choices: object, env: Record<string, string> = {}) => chooseFolders(choices, env, '/program', 'run-1');

it('takes the folder that is named, else the variable, else the one in the home folder', () => {
  expect(choose({ dataDir: '/a' }, { CODEFYUI_USER_DATA_DIR: '/b' }).run.data).toBe('/a/data');
  expect(choose({}, { CODEFYUI_USER_DATA_DIR: '/b' }).run.data).toBe('/b/data');
  expect(choose({}, { CODEFYUI_USER_DATA_DIR: ' ' }).run.data).toBe(join(homedir(), '.codefyui/data'));
});

it('lays everything out below it, but for what is named apart', () => {
  expect(
    choose({ dataDir: '/a', outputDir: '/o' }, { CODEFYUI_CUSTOM_NODES_DIR: '/c', CODEFYUI_PRESETS_DIR: '/p' }),
  ).toEqual({
    run: {
      data: '/a/data',
      models: '/a/data/models',
      images: '/a/data/images',
      files: '/a/data/files',
      graphs: '/a/data/graphs',
      datasets: '/a/data/datasets',
      output: '/o',
      customNodes: '/c',
      examples: '/program/examples',
    },
    presets: '/p',
  });
  expect(choose({ dataDir: '/a' }).run.output).toBe('/a/data/outputs/run-1');
});
