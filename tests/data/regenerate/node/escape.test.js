const test = require('node:test');

test('pass', () => {});

test('colourful failure', () => {
  throw new Error('boom \u001b[31mred\u001b[0m');
});

test('after', () => {});
