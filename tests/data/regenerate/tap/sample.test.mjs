import test from 'ava';

test('pass', (t) => t.is(1 + 1, 2));
test('fail', (t) => t.deepEqual({ a: [1, 2] }, { a: [1, 3] }, 'message with <b> & ]]>'));
test('throws', () => {
  throw new TypeError('boom');
});
test.skip('skip', (t) => t.fail());
test.todo('todo');
test.failing('expected to fail', (t) => t.fail());
test.failing('expected to fail but passes', (t) => t.pass());
test('name with ü✓🧪 # hash', (t) => t.pass());
test('no assertions', () => {});
