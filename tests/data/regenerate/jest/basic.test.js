test('top level pass', () => {
  expect(1 + 1).toBe(2);
});

describe('sums', () => {
  test('pass', () => {});

  test('fail', () => {
    console.log('printed before the failure');
    expect({ a: 1, b: [1, 2] }).toEqual({ a: 1, b: [1, 3] });
  });

  test('throws', () => {
    throw new TypeError('boom <b> & ]]> \u001b[31mred');
  });

  test.skip('skip', () => {});
  test.todo('todo');

  test.failing('expected to fail', () => {
    expect(1).toBe(2);
  });

  test.failing('expected to fail but passes', () => {});

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

test('times out', (done) => {}, 50);
