const assert = require('node:assert');
const { before, describe, it, test } = require('node:test');

test('top level pass', () => {});

test('top level fail', () => assert.strictEqual(1, 2));

test('skip', { skip: 'not today' }, () => {});
test('skip without reason', { skip: true }, () => {});
test('todo that passes', { todo: 'later' }, () => {});
test('todo that fails', { todo: true }, () => assert.ok(false));

test('parent with subtests', async (t) => {
  await t.test('child pass', () => {});
  await t.test('child fail', () => {
    throw new TypeError('boom <b> & co');
  });
});

describe('suite', () => {
  it('pass', () => console.log('printed'));
  it('fail', () => assert.deepStrictEqual({ a: [1, 2] }, { a: [1, 3] }));
  describe('inner', () => {
    it('pass', () => {});
  });
});

describe('broken before', () => {
  before(() => {
    throw new Error('no database');
  });
  it('first', () => {});
});

test('times out', { timeout: 50 }, () => new Promise((resolve) => setTimeout(resolve, 500)));
