const test = require('node:test');

test('pass', () => {});

test('failure that closes a section', () => {
  throw new Error('boom ]]> end');
});

test('after', () => {});
