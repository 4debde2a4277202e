// Preloaded with `node --require`: a machine so busy that a started program speaks long before its parent goes on after the spawn.
'use strict';

const childProcess = require('node:child_process');
const { syncBuiltinESMExports } = require('node:module');

const { spawn } = childProcess;
childProcess.spawn = function (...args) {
  const child = spawn.apply(childProcess, args);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  return child;
};
syncBuiltinESMExports();
