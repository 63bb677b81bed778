const { test } = require('@playwright/test');
const attempt = require('./attempts.cjs');

test('pass', () => {});

test('passes at third attempt', ({}, info) => {
  const n = attempt(`third-${info.project.name}`);
  console.log(`attempt ${n}`);
  if (n < 3) throw new Error(`attempt ${n} of third`);
});

test('always fails', ({}, info) => {
  throw new Error(`attempt ${attempt(`always-${info.project.name}`)} of always`);
});

test('fails in beta only', ({}, info) => {
  if (info.project.name === 'beta') throw new Error('beta is broken');
});

test.skip('skip', () => {});

test.describe.serial('one after the other', () => {
  test('first', () => {});
  test('second fails', () => {
    throw new Error('second is broken');
  });
  test('third is not reached', () => {});
});
