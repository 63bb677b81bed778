import { beforeAll, describe, expect, test } from 'vitest';

test('top level pass', () => {});

describe('sums', () => {
  test('pass', () => expect(1 + 1).toBe(2));

  test('fail', () => {
    console.log('printed before the failure');
    expect({ a: 1, b: [1, 2] }).toEqual({ a: 1, b: [1, 3] });
  });

  test('throws', () => {
    throw new TypeError('boom <b> & ]]> \u001b[31mred');
  });

  test('two soft failures', () => {
    expect.soft(1).toBe(2);
    expect.soft(3).toBe(4);
  });

  test.skip('skip', () => {});
  test.todo('todo');
  test('skips inside', ({ skip }) => skip('not here'));
  test.fails('expected to fail', () => expect(1).toBe(2));
  test.fails('expected to fail but passes', () => {});

  test.each([[1, 'a'], [2, 'b'], [3, '"ü✓🧪"']])('each %i %s', (number) => {
    expect(number).not.toBe(2);
  });

  describe('inner', () => {
    test('pass', () => {});
  });
});

describe('same names', () => {
  test('twin', () => {});
  test('twin', () => {
    throw new Error('only the second twin fails');
  });
});

describe('broken before', () => {
  beforeAll(() => {
    throw new Error('no database');
  });
  test('first', () => {});
  test('second', () => {});
});
