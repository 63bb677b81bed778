const { expect, test } = require('@playwright/test');

test('top level pass', () => {});

test.describe('sums', () => {
  test('pass', { tag: '@fast', annotation: { type: 'issue', description: 'FB-4' } }, () => {
    expect(1 + 1).toBe(2);
  });

  test('fail', async ({}, info) => {
    console.log('printed before the failure');
    await info.attach('notes', { body: 'some text', contentType: 'text/plain' });
    expect([1, 2]).toEqual([1, 3]);
  });

  test('throws', () => {
    throw new TypeError('boom <b> & ]]> \u001b[31mred');
  });

  test('two soft failures', () => {
    expect.soft(1).toBe(2);
    expect.soft(3).toBe(4);
  });

  test.skip('skip', () => {});
  test.fixme('fixme', () => {});

  test('skips inside', () => {
    test.skip(true, 'not here');
  });

  test('expected to fail', () => {
    test.fail();
    expect(1).toBe(2);
  });

  test('expected to fail but passes', () => {
    test.fail();
  });

  test('times out', async () => {
    test.setTimeout(300);
    await new Promise((resolve) => setTimeout(resolve, 5000));
  });

  test.describe('inner', () => {
    test('pass ü✓🧪', () => {});
  });
});
