'use strict';

/**
 * Resolves `./train.js` to `./train.ts` where only that exists: TypeScript wants the extension of the compiled file in a dynamic
 * import, and tests run from source.
 */
module.exports = function resolve(request, options) {
  try {
    return options.defaultResolver(request, options);
  } catch (error) {
    if (!request.startsWith('.') && !request.startsWith('/')) {
      throw error;
    }
    const source = request.replace(/\.js$/, '.ts');
    if (source === request) {
      throw error;
    }
    return options.defaultResolver(source, options);
  }
};
