// Runs a script of this folder: `node scripts/run.cjs NAME [ARGUMENTS]`. Written so that even a very old Node reads it and can say
// what is wrong; everything else may use today's language.
'use strict';

var path = require('path');

/** The sentence for a Node that is older than package.json wants, or null. */
function refusal(version, range) {
  var wanted = range.replace(/^>=/, '');
  var have = version.split('.').map(Number);
  var least = wanted.split('.').map(Number);
  if (have[0] > least[0] || (have[0] === least[0] && have[1] >= (least[1] || 0))) {
    return null;
  }
  return (
    'This program needs Node.js ' +
    wanted +
    ' or newer, and this is ' +
    version +
    '. Install a newer one: https://nodejs.org'
  );
}

function main() {
  var sentence = refusal(process.versions.node, require('../package.json').engines.node);
  if (sentence) {
    console.error(sentence);
    process.exit(1);
  }
  var name = process.argv[2];
  process.argv.splice(1, 2, path.join(__dirname, name + '.mjs'));
  import('./' + name + '.mjs').catch(function (error) {
    console.error(error);
    process.exitCode = 1;
  });
}

module.exports = { refusal: refusal };

if (require.main === module) {
  main();
}
